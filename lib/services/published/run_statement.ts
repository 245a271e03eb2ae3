// Step 10, the engine's part: the stored statement with its values, through the pipeline that every statement takes.
import { plainCall } from "../../query/plain_call.ts";
import type { QueryAnswer } from "../../query/query_call.ts";
import { runForSession } from "../../query/run_for_session.ts";
import type { SqlParameter } from "../../sql/sql_value.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { underSession } from "./session_guard.ts";

/** Errors: `session_invalid` where the session's user is gone; every code of the pipeline, in its words to the owner. */
export async function runStatement(
  ctx: Pick<PublishedContext, "query" | "control">,
  endpointCall: EndpointCall,
  params: readonly SqlParameter[],
  { integersAsStrings }: { readonly integersAsStrings: boolean } = { integersAsStrings: false },
): Promise<QueryAnswer> {
  const { record, target, tokenId, session, signal } = endpointCall;
  const statements = [{ sql: record.spec.sql, params }];
  const call = plainCall({ target, tokenId, operation: "endpoint", statements }, {
    userId: session?.userId ?? null,
    snapshots: true,
    integersAsStrings,
    signal,
  });
  return await underSession(ctx, endpointCall, (guard) => runForSession(ctx.query, call, guard));
}
