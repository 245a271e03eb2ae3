// Kind `auth_login`: reads the user's key and hash by email, compares, mints a session. An unknown user takes the same
// time and gets the same answer as a wrong password.
import { normalPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/names.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { readResult } from "../endpoints/spec/outputs.ts";
import { inputIndex, issueSession, textAt } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readUsers, type Users } from "./read_users.ts";
import { runStatement } from "./session_guard.ts";

/** Answers with a session. Errors: `login_failed`, `login_locked`, `hashing_busy`, those of the pipeline. */
export async function logIn(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  // Branches have copies of the same hashes, so guesses at a branch count for the account of the trunk.
  const { record: { spec, databaseId }, target: { namespaceId } } = call;
  const email = textAt(spec, bound, "email");
  const spelling = email.normalize("NFKC").trim().toLowerCase();
  const table = foldName(spec.authConfig?.usersTable ?? "");
  const spelled = await ctx.hashes.of("login", databaseId, table, spelling);
  refuseLocked(await ctx.loginFailures.lockedSec(databaseId, [spelled]));
  const passwordIndex = inputIndex(spec, "password");
  const { results, meta } = await runStatement(
    ctx,
    call,
    bound.filter((_, index) => index !== passwordIndex),
  );
  const user = readUser(results[0], await readUsers(ctx, call));
  // Guesses count for the user whom the statement finds, however the address is spelled. The hash tells this user from a
  // later one with the same key. An unknown user has as many counters, so that both take the same time.
  const found = user === null ? ["nobody", spelling] : ["key", JSON.stringify([user.key, user.hash])];
  const accounts = [spelled, await ctx.hashes.of("login", databaseId, table, ...found)];
  const password = normalPassword(textAt(spec, bound, "password"));
  const right = await ctx.passwords.verify(namespaceId, password, user?.hash ?? null);
  // Meanwhile others may have used up the hour's failures: then a right guess is refused too.
  refuseLocked(
    right
      ? await ctx.loginFailures.lockedSec(databaseId, accounts)
      : await ctx.loginFailures.add(databaseId, accounts),
  );
  if (!right || user === null) throw new AppError("login_failed");
  return { ...await issueSession(ctx, call, user.key), meta };
}

function refuseLocked(retryAfterSec: number): void {
  if (retryAfterSec > 0) throw new AppError("login_locked", { retryAfterSec });
}

interface User {
  readonly key: unknown;
  readonly hash: string | null;
}

/** Null for an unknown user. */
function readUser(
  result: StatementResult | undefined,
  { indexesIn }: Users,
): User | null {
  if (result === undefined) return null;
  const { columns, rows: [row] } = readResult(result);
  if (row === undefined) return null;
  const at = indexesIn(columns);
  const hash = row[at.hash];
  return { key: row[at.key], hash: typeof hash === "string" ? hash : null };
}
