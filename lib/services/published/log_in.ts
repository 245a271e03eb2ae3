// Kind `auth_login`: read the user's key and hash by email, compare, mint a session. An unknown user costs the same time
// and gets the same answer as a wrong password.
import { normalPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { placeOf, textAt } from "./auth_inputs.ts";
import { issueSession } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readUsers, type UserPlaces } from "./read_users.ts";
import { runStatement } from "./run_statement.ts";
import { readResult } from "./shape_answer.ts";

/** Errors: `login_failed`, `login_locked`, `hashing_busy`, those of the pipeline. */
export async function logIn(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  // Branches have copies of the same hashes: guesses at any of them count for the account of the trunk.
  const { record: { spec, databaseId }, target: { namespaceId } } = call;
  const email = textAt(spec, bound, "email");
  const account = await ctx.hashes.of("login", databaseId, email.normalize("NFKC").toLowerCase());
  const locked = (seconds: number) => new AppError("login_locked", { retryAfterSec: seconds });
  const before = await ctx.loginFailures.lockedSec(databaseId, account);
  if (before > 0) throw locked(before);
  const place = placeOf(spec, "password");
  const { results, meta } = await runStatement(ctx, call, bound.filter((_, index) => index !== place));
  const user = readUser(results[0], await readUsers(ctx, call));
  const password = normalPassword(textAt(spec, bound, "password"));
  const right = await ctx.passwords.verify(namespaceId, password, user?.hash ?? null);
  // While this was computed others may have used up the hour's failures: then a right guess counts no more either.
  const after = right
    ? await ctx.loginFailures.lockedSec(databaseId, account)
    : await ctx.loginFailures.add(databaseId, account);
  if (after > 0) throw locked(after);
  if (!right || user === null) throw new AppError("login_failed");
  return { ...await issueSession(ctx, call, { key: user.key, email: user.email ?? email }), meta };
}

interface User {
  readonly key: unknown;
  /** As it is stored, where the statement selects it. */
  readonly email: string | null;
  readonly hash: string | null;
}

/** Null for an unknown user. */
function readUser(
  result: StatementResult | undefined,
  places: (columns: readonly string[]) => UserPlaces,
): User | null {
  if (result === undefined) return null;
  const { columns, rows: [row] } = readResult(result);
  if (row === undefined) return null;
  const at = places(columns);
  const [key, hash, email] = [row[at.key], row[at.hash], row[at.email]];
  return {
    key,
    email: typeof email === "string" ? email : null,
    hash: typeof hash === "string" ? hash : null,
  };
}
