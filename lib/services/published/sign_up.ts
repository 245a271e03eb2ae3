// Kind `auth_signup`: hash the password, insert the row, read its key and email, mint a session.
import { newPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import { issueSession } from "./issue_session.ts";
import { placeOf, textAt } from "./auth_inputs.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { readUsers } from "./read_users.ts";
import { runStatement } from "./run_statement.ts";
import { readResult } from "./shape_answer.ts";

/** Errors: `validation_failed` (password), `hashing_busy`, `account_exists`, `sql_error`, those of the pipeline. */
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
  // Before a row is there that no session could be given for.
  await readUsers(ctx, call);
  const hash = await ctx.passwords.hash(call.target.namespaceId, password);
  const place = placeOf(spec, "password");
  const { results, meta } = await insert(
    ctx,
    call,
    bound.map((value, index) => index === place ? hash : value),
  );
  const [result] = results;
  const { columns, rows: [row] } = result ? readResult(result) : { columns: [], rows: [] };
  // ON CONFLICT DO NOTHING returns no row: somebody has the address.
  if (row === undefined) throw new AppError("account_exists");
  // Read again only where the schema has changed meanwhile.
  const { placesIn } = await readUsers(ctx, call);
  return { ...await issueSession(ctx, call, row[placesIn(columns).key]), meta };
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
