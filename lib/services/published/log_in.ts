// Kind `auth_login`: read the user's key and hash by email, compare, mint a session. An unknown user costs the same time
// and gets the same answer as a wrong password.
import { normalPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { foldName } from "../schema/fold_name.ts";
import { placeOf, textAt } from "./auth_inputs.ts";
import { issueSession } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readUsers, type Users } from "./read_users.ts";
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
  const spelling = email.normalize("NFKC").trim().toLowerCase();
  const table = foldName(spec.authConfig?.usersTable ?? "");
  const spelled = await ctx.hashes.of("login", databaseId, table, spelling);
  refuseLocked(await ctx.loginFailures.lockedSec(databaseId, [spelled]));
  const place = placeOf(spec, "password");
  const { results, meta } = await runStatement(ctx, call, bound.filter((_, index) => index !== place));
  const user = readUser(results[0], await readUsers(ctx, call));
  // However an address is spelled, guesses count for the user whom the statement finds: the hash tells this one from the
  // next who gets the same key. For nobody there are as many counters, so that it takes as long.
  const found = user === null ? ["nobody", spelling] : ["key", JSON.stringify([user.key, user.hash])];
  const accounts = [spelled, await ctx.hashes.of("login", databaseId, table, ...found)];
  const password = normalPassword(textAt(spec, bound, "password"));
  const right = await ctx.passwords.verify(namespaceId, password, user?.hash ?? null);
  // While this was computed others may have used up the hour's failures: then a right guess counts no more either.
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
  { placesIn }: Users,
): User | null {
  if (result === undefined) return null;
  const { columns, rows: [row] } = readResult(result);
  if (row === undefined) return null;
  const at = placesIn(columns);
  const hash = row[at.hash];
  return { key: row[at.key], hash: typeof hash === "string" ? hash : null };
}
