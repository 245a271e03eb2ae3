// A person who can make the documented requests about an account: with the documented password, a second session and a
// passkey.
import { assertEquals } from "@std/assert";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { acceptLink } from "../../lib/services/people/accept_link.ts";
import { signInByPassword } from "../../lib/services/people/sign_in.ts";
import type { BrowserAnswer } from "../../lib/services/people/verify_passkey.ts";
import { sessionCookieName } from "../../routes/http/session_cookie.ts";
import { SoftwarePasskey } from "../testing/software_passkey.ts";
import type { StartedApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";

export interface DocumentedPerson {
  readonly headers: Readonly<Record<string, string>>;
  readonly otherSession: string;
  /** `pky_…`. */
  readonly passkey: string;
  /** Answers a new registration. */
  makePasskey(): Promise<BrowserAnswer>;
}

/** The password of the documented confirmation. */
const PASSWORD = "correct horse battery";
const EMAIL = "documented@example.com";

/** Of the namespace `acme`. */
export async function documentedPerson({ deps, request }: StartedApp): Promise<DocumentedPerson> {
  const operator = { ...deps, caller: { kind: "operator" } } as const;
  const browser = { address: "documented", agent: null, replaced: null };
  const { inviteUrl } = await addMember(operator, { namespaceSlug: "acme", email: EMAIL, role: "viewer" });
  const token = inviteUrl.split("/").at(-1) ?? "";
  const other = await acceptLink(deps.people, { token, password: PASSWORD, browser });
  const credentials = { namespaceSlug: "acme", email: EMAIL, password: PASSWORD, browser };
  const own = await signInByPassword(deps.people, credentials);
  const headers = {
    cookie: `${sessionCookieName(deps.baseUrl)}=${own.secret}`,
    origin: new URL(deps.baseUrl).origin,
    "x-csrf-token": own.csrfToken,
  };
  const makePasskey = async () => {
    const asked = await request("POST", "/api/me/passkeys/options", { headers });
    assertEquals(asked.status, 200, asked.text);
    const passkey = await SoftwarePasskey.in({ origin: "http://localhost", rpId: "localhost" });
    return await passkey.make(JSON.parse(asked.text).data);
  };
  const body = { name: "First", answer: await makePasskey() };
  const made = await request("POST", "/api/me/passkeys", { headers, body });
  assertEquals(made.status, 201, made.text);
  return { headers, otherSession: other.sessionId, passkey: member(made, "id"), makePasskey };
}
