// What somebody has typed into a form is kept over a sign-in or a proof of who they are: it goes with that page as one
// hidden field, and is sent again afterwards.
import type { Context } from "hono";
import { MAX_BODY_BYTES } from "../../../lib/core/limits.ts";
import type { Env } from "../../http/env.ts";
import { bodyText } from "../../middleware/body_text.ts";
import { ownPath } from "./own_path.ts";
import { type FormFields, hasTooManyFields } from "./read_form.ts";

/** A form that waits. */
export interface Waiting {
  /** Where it was going. */
  readonly to: string;
  /** Its fields, as they were sent, without the session's token. */
  readonly typed: string;
}

/** Passwords and answers of passkeys do not wait: they are asked for again. */
const NOT_KEPT = ["csrf", "password", "operatorKey", "token", "answer", "to", "typed", "next"];

/** Those that somebody has typed, without which the form says nothing. */
const SECRETS = ["password", "operatorKey", "token", "answer"];

/** Whether a form holds what does not wait, so that it has to be filled in again. */
export function holdsSecrets(fields: FormFields): boolean {
  return SECRETS.some((name) => fields.exact(name) !== "");
}

/** What `waitingOf` writes. Anything else would grow several times where a page shows it. */
const WRITTEN = /^[\w*.+%&=-]*$/;

/** The form that a request holds. Errors: those of `bodyText`. */
export async function waitingOf(c: Context<Env>): Promise<Waiting> {
  const to = ownPath(c.get("visit").here);
  const text = await bodyText(c);
  // No page of the console has sent it.
  if (hasTooManyFields(text)) return { to, typed: "" };
  const fields = new URLSearchParams(text);
  // By a token is another thing than by the session, so a form stays one with a token.
  const hasToken = fields.has("token");
  for (const name of NOT_KEPT) fields.delete(name);
  if (hasToken) fields.set("token", "");
  const typed = fields.toString();
  // What is longer could not be sent again, and no browser sends it: it writes a form as it is written here.
  return { to, typed: typed.length > MAX_BODY_BYTES ? "" : typed };
}

/** The form that waits behind another one; null where none does. */
export function waitingIn(fields: FormFields): Waiting | null {
  const [to, typed] = [fields.exact("to"), fields.exact("typed")];
  const isWaiting = to !== "" && WRITTEN.test(typed) && !hasTooManyFields(typed);
  return isWaiting ? { to: ownPath(to), typed } : null;
}

/** As hidden fields of the page between. */
export function hiddenOf(waiting: Waiting | null): Record<string, string> {
  return waiting === null ? {} : { to: waiting.to, typed: waiting.typed };
}
