// What somebody has typed into a form is kept over a sign-in or a proof of who they are: it goes with that page as one
// hidden field, and is sent again afterwards.
import type { Context } from "hono";
import type { Env } from "../../http/env.ts";
import { bodyText } from "../../middleware/body_text.ts";
import { ownPath } from "./own_path.ts";
import type { FormFields } from "./read_form.ts";

/** A form that waits. */
export interface Waiting {
  /** Where it was going. */
  readonly to: string;
  /** Its fields, as they were sent, without the session's token. */
  readonly typed: string;
}

/** Passwords and answers of passkeys do not wait: they are asked for again. */
const NOT_KEPT = ["csrf", "password", "operatorKey", "token", "answer", "to", "typed", "next"];

/** The form that a request holds. Errors: those of `bodyText`. */
export async function waitingOf(c: Context<Env>): Promise<Waiting> {
  const fields = new URLSearchParams(await bodyText(c));
  // By a token is another thing than by the session, so a form stays one with a token.
  const hasToken = fields.has("token");
  for (const name of NOT_KEPT) fields.delete(name);
  if (hasToken) fields.set("token", "");
  return { to: ownPath(c.get("visit").here), typed: fields.toString() };
}

/** The form that waits behind another one; null where none does. */
export function waitingIn(fields: FormFields): Waiting | null {
  const to = fields.exact("to");
  return to === "" ? null : { to: ownPath(to), typed: fields.exact("typed") };
}

/** As hidden fields of the page between. */
export function hiddenOf(waiting: Waiting | null): Record<string, string> {
  return waiting === null ? {} : { to: waiting.to, typed: waiting.typed };
}
