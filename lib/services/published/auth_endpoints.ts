// Kinds `auth_login` and `auth_signup`, and the session that both answer with.
import { AppError } from "../../core/errors.ts";
import { foldName } from "../../sql/words/names.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { StatementResult } from "../../tenant/tenant_store.ts";
import { readResult } from "../query/read_result.ts";
import { requireNewPassword } from "./change_password.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { accountByEmail } from "./find_account.ts";
import { beginGuess, isPassword } from "./guess_password.ts";
import { inputIndex, textIn } from "./input_values.ts";
import { issueSession, type SessionUser } from "./issue_session.ts";
import { publicError } from "./public_error.ts";
import { readUsers, type Users } from "./read_users.ts";
import { runStored } from "./run_for_endpoint.ts";

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
  const { spec } = call.record;
  const email = textIn(spec, bound, "email");
  const guessing = await beginGuess(ctx, call, email);
  const meant = await accountByEmail(ctx, call, email);
  const emailIndex = inputIndex(spec, "email");
  const { results, meta } = await runStored(
    ctx,
    call,
    bound.map((value, index) => index === emailIndex ? meant?.email ?? value : value),
  );
  const account = readUser(results[0], await readUsers(ctx, call));
  const password = textIn(spec, bound, "password");
  const right = await isPassword(ctx, { call, guessing, account, password });
  if (!right || account === null) throw new AppError("login_failed");
  if (!guessing.isKnown) await ctx.guesses.remember(guessing.guess);
  return { ...await issueSession(ctx, call, account), meta };
}

/** The user as the statement shows it. Null for an unknown user. */
function readUser(
  result: StatementResult | undefined,
  { indexesIn }: Users,
): SessionUser | null {
  if (result === undefined) return null;
  const { columns, rows: [row] } = readResult(result.json);
  if (row === undefined) return null;
  const at = indexesIn(columns);
  const hash = row[at.hash];
  return { key: row[at.key], hash: typeof hash === "string" ? hash : null };
}

/**
 * Hashes the password, inserts the row, and answers with a session. Errors: `validation_failed` (password),
 * `hashing_busy`, `account_exists`, `value_taken`, `sql_error`, those of the pipeline.
 */
export async function signUp(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { spec } = call.record;
  const password = requireNewPassword(textIn(spec, bound, "password"), "password");
  // Fails here when the table has no key: no row must be inserted for which there can be no session.
  const { ignoresCase } = await readUsers(ctx, call);
  const hash = await ctx.passwords.hash(call.target.namespaceId, password);
  const email = textIn(spec, bound, "email");
  // A table without an index for it may hold an address in another case, from before sign-ups wrote lower case.
  if (await accountByEmail(ctx, call, email) !== null) throw new AppError("account_exists");
  const stored = new Map([
    [inputIndex(spec, "password"), hash],
    [inputIndex(spec, "email"), ignoresCase ? email : foldName(email)],
  ]);
  const { results, meta } = await insert(ctx, call, {
    params: bound.map((value, index) => stored.get(index) ?? value),
    email,
  });
  const [result] = results;
  const { columns, rows: [row] } = result ? readResult(result.json) : { columns: [], rows: [] };
  // ON CONFLICT DO NOTHING returns no row when somebody has the address, or another of the values.
  if (row === undefined) throw await takenError(ctx, call, { email });
  // Comes from the cache unless the schema has changed meanwhile.
  const { indexesIn } = await readUsers(ctx, call);
  return { ...await issueSession(ctx, call, { key: row[indexesIn(columns).key], hash }), meta };
}

async function insert(
  ctx: PublishedContext,
  call: EndpointCall,
  { params, email }: { readonly params: readonly SqlParameter[]; readonly email: string },
) {
  try {
    return await runStored(ctx, call, params);
  } catch (error) {
    if (error instanceof AppError && error.facts.detail?.kind === "unique_violation") {
      throw await takenError(ctx, call, { email, failure: error });
    }
    throw error;
  }
}

/** The address has an account, or somebody else has another of the values, such as a name. */
async function takenError(
  ctx: PublishedContext,
  call: EndpointCall,
  { email, failure }: { readonly email: string; readonly failure?: AppError },
): Promise<AppError> {
  if (await accountByEmail(ctx, call, email) !== null) return new AppError("account_exists");
  const issues = failure && publicError(call.record.spec, failure).facts.issues;
  return new AppError("value_taken", issues === undefined ? {} : { issues });
}
