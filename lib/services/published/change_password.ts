// Kind `auth_password`: the user of a session sets a new password with the old one.
import { sessionOwner } from "../../access/mint_session.ts";
import { newPassword, PASSWORD_BOUNDS } from "../../access/password_hash.ts";
import type { SessionClaims } from "../../access/verify_session.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { sameName } from "../../sql/words/names.ts";
import { usersTableOf } from "../endpoints/spec/users_table.ts";
import { accountByKey, setPassword } from "./find_account.ts";
import { beginGuess, isPassword } from "./guess_password.ts";
import { textIn } from "./input_values.ts";
import { issueSession } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";

const WRONG = "Send the password that the account has now";

/**
 * The commit that writes the password ends every session of the account: they name the old one. Answers a new session.
 * Errors: `validation_failed` (new_password), `login_failed`, `login_locked`, `hashing_busy`, those of the pipeline.
 */
export async function changePassword(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { record: { spec }, target } = call;
  const session = ownSession(call);
  const password = requireNewPassword(textIn(spec, bound, "new_password"), "new_password");
  const account = await accountByKey(ctx, call, session.userId);
  const guessing = await beginGuess(ctx, call, account?.email ?? session.userId);
  const old = textIn(spec, bound, "password");
  const right = await isPassword(ctx, { call, guessing, account, password: old });
  if (!right || account === null) throw new AppError("login_failed", { message: WRONG });
  const hash = await ctx.passwords.hash(target.namespaceId, password);
  // Somebody else has set one since it was read.
  const meta = await setPassword(ctx, call, { account, hash });
  if (meta === null) throw new AppError("login_failed", { message: WRONG });
  await endSessions(ctx, call, session.userId);
  return { ...await issueSession(ctx, call, { key: account.key, hash }), meta };
}

/**
 * The session of a call that is about its user's row. A key of another users table is another user. Errors:
 * `session_invalid`, `session_required`.
 */
export function ownSession({ session, record: { spec } }: EndpointCall): SessionClaims {
  if (session === null) throw new AppError("session_required");
  const isOther = session.users !== null && !sameName(session.users.table, usersTableOf(spec));
  if (isOther) throw new AppError("session_invalid");
  return session;
}

/**
 * Ends all sessions of a user for good: their claims alone would let them come back with a restore to before. Errors:
 * `meter_unreachable`.
 */
export async function endSessions(
  { control }: Pick<PublishedContext, "control">,
  { target, record: { spec } }: EndpointCall,
  userId: string,
): Promise<void> {
  const users = { table: usersTableOf(spec), emailColumn: "" };
  await control.sessionEnds.endAll(sessionOwner(target, { userId, users }));
}

/** The form in which it is hashed. Errors: `validation_failed` naming the input. */
export function requireNewPassword(text: string, path: string): string {
  const password = newPassword(text);
  if (password !== null) return password;
  throw invalidInput(path, PASSWORD_BOUNDS);
}
