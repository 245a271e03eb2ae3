// Kinds `auth_login` and `auth_signup`, and the session that both answer with.
import { EMAIL_COLUMN, mintSession } from "../../access/mint_session.ts";
import { newPassword, normalPassword } from "../../access/password_hash.ts";
import { isoTime } from "../../core/clock.ts";
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/names.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { readResult } from "../query/read_result.ts";
import { noKey } from "../endpoints/spec/users_table.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readEmail, readUsers, type Users } from "./read_users.ts";
import { runStatement } from "./session_guard.ts";

/**
 * Reads the user's key and hash by email, compares, and answers with a session. An unknown user takes the same time
 * and gets the same answer as a wrong password. Errors: `login_failed`, `login_locked`, `hashing_busy`, those of the
 * pipeline.
 */
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
  const { results, meta } = await runStatement(ctx, call, bound);
  const user = readUser(results[0], await readUsers(ctx, call));
  // Guesses count for the user whom the statement finds, however the address is spelled. The hash tells this user
  // from a later one with the same key. An unknown user has as many counters, so that both take the same time.
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
  const { columns, rows: [row] } = readResult(result.json);
  if (row === undefined) return null;
  const at = indexesIn(columns);
  const hash = row[at.hash];
  return { key: row[at.key], hash: typeof hash === "string" ? hash : null };
}

/**
 * Hashes the password, inserts the row, and answers with a session. Errors: `validation_failed` (password),
 * `hashing_busy`, `account_exists`, `sql_error`, those of the pipeline.
 */
export async function signUp(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { spec } = call.record;
  const password = newPassword(textAt(spec, bound, "password"));
  if (password === null) {
    throw new AppError("validation_failed", {
      issues: [{ path: "password", message: "Send 8 to 1024 characters" }],
    });
  }
  // Fails here when the table has no key: no row must be inserted for which there can be no session.
  await readUsers(ctx, call);
  const hash = await ctx.passwords.hash(call.target.namespaceId, password);
  const passwordIndex = inputIndex(spec, "password");
  const { results, meta } = await insert(
    ctx,
    call,
    bound.map((value, index) => index === passwordIndex ? hash : value),
  );
  const [result] = results;
  const { columns, rows: [row] } = result ? readResult(result.json) : { columns: [], rows: [] };
  // ON CONFLICT DO NOTHING returns no row when somebody has the address.
  if (row === undefined) throw new AppError("account_exists");
  // Comes from the cache unless the schema has changed meanwhile.
  const { indexesIn } = await readUsers(ctx, call);
  return { ...await issueSession(ctx, call, row[indexesIn(columns).key]), meta };
}

async function insert(ctx: PublishedContext, call: EndpointCall, params: readonly SqlParameter[]) {
  try {
    return await runStatement(ctx, call, params);
  } catch (error) {
    if (error instanceof AppError && error.facts.detail?.kind === "unique_violation") {
      throw new AppError("account_exists");
    }
    throw error;
  }
}

/** Seconds that a session lives unless the specification says otherwise. */
const DEFAULT_TTL_SEC = 86_400;

/**
 * `key` is the user's primary key as the engine gave it. The claim `email` is what the users table has for that key;
 * the session ends when the table has another. Errors: `sql_error` for a value that is no key, those of the pipeline.
 */
async function issueSession(
  ctx: Pick<PublishedContext, "control" | "query">,
  call: EndpointCall,
  key: unknown,
): Promise<{ readonly body: string; readonly userId: string }> {
  if ((typeof key !== "string" && typeof key !== "number") || key === "") throw noKey();
  const userId = String(key);
  const email = await readEmail(ctx, call, key);
  const { authConfig } = call.record.spec;
  const lifetimeSec = authConfig?.sessionTtlSec ?? DEFAULT_TTL_SEC;
  const { table } = await readUsers(ctx, call);
  const users = { table, emailColumn: authConfig?.emailColumn ?? EMAIL_COLUMN };
  const session = await mintSession(ctx.control, call.target, {
    userId,
    lifetimeSec,
    users,
    ...(email === null ? {} : { email }),
  });
  if (session === null) throw new AppError("endpoint_not_found");
  const body = JSON.stringify({ token: session.jwt, expiresAt: isoTime(session.expiresAtMs) });
  return { body, userId };
}

/** Index of a field in `input`, -1 where there is none. */
function inputIndex(spec: EndpointSpec, name: "email" | "password"): number {
  return spec.input.findIndex((field) => field.name === name);
}

/** The text of such a field. Empty where it is absent, which the validator of specifications rules out. */
function textAt(
  spec: EndpointSpec,
  bound: readonly SqlParameter[],
  name: "email" | "password",
): string {
  const value = bound[inputIndex(spec, name)];
  return typeof value === "string" ? value : "";
}
