// Kind `auth_signup`: hash the password, insert the row, read its key, mint a session.
import { normalPassword } from "../../access/password_hash.ts";
import { AppError } from "../../core/errors.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import { issueSession } from "./issue_session.ts";
import { placeOf, textAt } from "./auth_inputs.ts";
import type { EndpointCall, EndpointOutcome, PublishedContext } from "./published_context.ts";
import { runStatement } from "./run_statement.ts";
import { readResult } from "./shape_answer.ts";

/** Errors: `validation_failed` (password), `hashing_busy`, `account_exists`, those of the pipeline. */
export async function signUp(
  ctx: PublishedContext,
  call: EndpointCall,
  bound: readonly SqlParameter[],
): Promise<EndpointOutcome> {
  const { spec } = call.record;
  const email = textAt(spec, bound, "email");
  const password = normalPassword(textAt(spec, bound, "password"));
  if (password === null) {
    throw new AppError("validation_failed", {
      issues: [{ path: "password", message: "Send 8 to 1024 characters" }],
    });
  }
  const hash = await ctx.passwords.hash(call.target.namespaceId, password);
  const place = placeOf(spec, "password");
  const { results, meta } = await insert(
    ctx,
    call,
    bound.map((value, index) => index === place ? hash : value),
  );
  const [result] = results;
  const key = result && readResult(result).rows[0]?.[0];
  // ON CONFLICT DO NOTHING returns no row: somebody has the address.
  if (result === undefined || key === undefined) throw new AppError("account_exists");
  return { ...await issueSession(ctx, call, { key, email }), meta };
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
