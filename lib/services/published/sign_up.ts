// Kind `auth_signup`: hashes the password, inserts the row, reads its key and email, mints a session.
import { newPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import { readResult } from "../endpoints/spec/outputs.ts";
import { inputIndex, issueSession, textAt } from "./issue_session.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readUsers } from "./read_users.ts";
import { runStatement } from "./session_guard.ts";

/**
 * Answers with a session. Errors: `validation_failed` (password), `hashing_busy`, `account_exists`, `sql_error`, those
 * of the pipeline.
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
  const { columns, rows: [row] } = result ? readResult(result) : { columns: [], rows: [] };
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
