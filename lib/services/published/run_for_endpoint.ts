// Step 10: statements of an endpoint on their way into the pipeline, under the session of their call.
import { plainCall } from "../../query/plain_call.ts";
import type { QueryAnswer, QueryStatement } from "../../query/query_call.ts";
import { runForSession } from "../../query/run_for_session.ts";
import { PLAIN_ROWS, type RowForm } from "../../sql/words/row_form.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { boundStatement } from "../endpoints/spec/bind_inputs.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { underSession } from "./session_guard.ts";

type Context = Pick<PublishedContext, "query" | "control">;

/**
 * Runs the stored statements with the values of the inputs, one in `bound` for each of `input`. Errors: `session_invalid`
 * where the session's user is gone; every code of the pipeline, in the words for the owner.
 */
export async function runStored(
  ctx: Context,
  call: EndpointCall,
  bound: readonly SqlParameter[],
  form: { readonly rowForm: RowForm } = { rowForm: PLAIN_ROWS },
): Promise<QueryAnswer> {
  const statements = prepareSpec(call.record.spec).statements.map((one) => boundStatement(one, bound));
  return await runForEndpoint(ctx, call, statements, form);
}

/**
 * Runs a statement that the service has written for the endpoint: as `service` a read that nobody pays for, as
 * `endpoint` what the endpoint does. Errors: as `runStored`.
 */
export async function runOwn(
  ctx: Context,
  call: EndpointCall,
  statement: QueryStatement,
  operation: "service" | "endpoint",
): Promise<QueryAnswer> {
  return await runForEndpoint(ctx, call, [statement], { rowForm: PLAIN_ROWS, operation });
}

/** As `runStored`, of statements that were made from the stored one for this call. */
export async function runForEndpoint(
  ctx: Context,
  endpointCall: EndpointCall,
  statements: readonly QueryStatement[],
  { rowForm, operation = "endpoint" }: {
    readonly rowForm: RowForm;
    readonly operation?: "service" | "endpoint";
  },
): Promise<QueryAnswer> {
  const { target, tokenId, session, replay, signal } = endpointCall;
  const call = plainCall({ target, tokenId, operation, statements }, {
    userId: session?.userId ?? null,
    // So that an error names the index of its statement.
    batch: statements.length > 1,
    snapshots: operation === "endpoint",
    replay,
    rowForm,
    signal,
  });
  return await underSession(ctx, endpointCall, (guard) => runForSession(ctx.query, call, guard));
}
