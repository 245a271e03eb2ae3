// Whether the parts of `authConfig` that only some kinds have stand where they belong: pages of links, mails, columns.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import type { Issue } from "../../../core/errors.ts";
import { EMAIL_COLUMN } from "../../../access/mint_session.ts";
import { foldName } from "../../../sql/words/names.ts";
import { PASSWORD_COLUMN } from "./users_table.ts";
import type { SpecParts } from "./spec_parts.ts";

type Member = Exclude<keyof NonNullable<EndpointSpec["authConfig"]>, "usersTable" | "passwordColumn">;

/** Kinds that have such a member, and those among them that need it. */
const members: Readonly<Record<Member, { readonly of: readonly string[]; readonly needed?: true }>> = {
  emailColumn: {
    of: ["auth_signup", "auth_login", "auth_password", "auth_refresh", "auth_reset", "auth_verify"],
  },
  sessionTtlSec: { of: ["auth_signup", "auth_login", "auth_password", "auth_refresh"] },
  sessionTotalSec: { of: ["auth_refresh"] },
  resetUrl: { of: ["auth_reset"], needed: true },
  verifyUrl: { of: ["auth_verify"], needed: true },
  verifiedColumn: { of: ["auth_verify"], needed: true },
  mail: { of: ["auth_reset", "auth_verify"] },
};

/** One issue for each member that does not fit. `isPlain`: whether the users table has such a column beside its key. */
export function mailIssues(spec: SpecParts, isPlain: (name: string) => boolean): Issue[] {
  const { kind, authConfig } = spec;
  if (authConfig === undefined || kind === undefined) return [];
  const { verifiedColumn, emailColumn = EMAIL_COLUMN, mail } = authConfig;
  const taken = new Set([PASSWORD_COLUMN, emailColumn].map(foldName));
  return [
    ...Object.entries(members).flatMap(([name, { of, needed }]) =>
      presenceIssues(kind, { name, of, isNeeded: needed === true, isThere: Object.hasOwn(authConfig, name) })
    ),
    ...pageIssues(spec, "resetUrl"),
    ...pageIssues(spec, "verifyUrl"),
    ...(verifiedColumn === undefined || (isPlain(verifiedColumn) && !taken.has(foldName(verifiedColumn)))
      ? []
      : [{ path: "authConfig.verifiedColumn", message: "Name a column of the users table for the time" }]),
    ...(mail === undefined ? [] : templateIssues(mail)),
  ];
}

interface Presence {
  readonly name: string;
  readonly of: readonly string[];
  readonly isNeeded: boolean;
  readonly isThere: boolean;
}

function presenceIssues(kind: string, { name, of, isNeeded, isThere }: Presence): Issue[] {
  const path = `authConfig.${name}`;
  if (isThere && !of.includes(kind)) return [{ path, message: `Remove this; ${kind} has no use for it` }];
  return isNeeded && !isThere && of.includes(kind)
    ? [{ path, message: "Add this field; the kind requires it" }]
    : [];
}

/** A link leads to a page of the app and nowhere else: to an origin that may call the endpoint. */
function pageIssues({ authConfig, cors = [] }: SpecParts, name: "resetUrl" | "verifyUrl"): Issue[] {
  const text = authConfig?.[name];
  if (text === undefined) return [];
  const path = `authConfig.${name}`;
  const url = URL.parse(text);
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isHttp || text.includes("#") || url.username !== "" || /[\s\p{C}]/u.test(text)) {
    return [{ path, message: "Send the http or https address of a page, without # and without a user" }];
  }
  return cors.includes(url.origin)
    ? []
    : [{ path, message: `Add ${url.origin} to cors; the page calls this endpoint from there` }];
}

const PLACEHOLDER = /\{\{(.*?)\}\}/gs;

function templateIssues(
  { subject, text }: NonNullable<NonNullable<EndpointSpec["authConfig"]>["mail"]>,
): Issue[] {
  const path = (name: string) => `authConfig.mail.${name}`;
  const unknown = (template: string, known: readonly string[]) =>
    [...template.matchAll(PLACEHOLDER)].some(([, name = ""]) => !known.includes(name));
  return [
    ...(/\p{C}/u.test(subject) ? [{ path: path("subject"), message: "Write the subject in one line" }] : []),
    ...(unknown(subject, ["email"])
      ? [{
        path: path("subject"),
        message: "Use {{email}} here and no other; subjects are shown on locked screens",
      }]
      : []),
    ...(/[^\P{C}\n\r\t]/u.test(text)
      ? [{ path: path("text"), message: "Remove control characters but line ends and tabs" }]
      : []),
    ...(unknown(text, ["email", "link"])
      ? [{ path: path("text"), message: "Use {{link}} and {{email}} and no other placeholder" }]
      : []),
    ...(text.includes("{{link}}")
      ? []
      : [{ path: path("text"), message: "Write {{link}} where the link is to stand" }]),
  ];
}
