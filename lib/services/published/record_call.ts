// Step 11: one row a call in the tenant's own `_service_meta_endpoint_call`, also for calls that were refused.
import type { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { PublishedContext, ResolvedEndpoint } from "./published_context.ts";

export interface CallFigures {
  readonly httpStatus: number;
  /** Monotonic time at which the call began. */
  readonly startedMs: number;
  /** Of a call that was answered. */
  readonly meta?: QueryMeta | null;
  /** Of one that failed, as its owner is told it. */
  readonly failure?: AppError;
  readonly userId: string | null;
  readonly ipHash: string | null;
}

/** Never fails and never waits: the row is there for the next statement that reads the log. */
export function recordCall(
  { query, clock }: Pick<PublishedContext, "query" | "clock">,
  { record, target }: ResolvedEndpoint,
  { httpStatus, startedMs, meta, failure: _, userId, ipHash }: CallFigures,
): void {
  const database = query.tenants.open(target.databaseId, target.namespaceId);
  const ts = clock.now();
  database.recordEndpointCall({
    id: newId("evt", ts),
    ts,
    endpoint: record.spec.slug,
    status: httpStatus < 400 ? "ok" : "error",
    httpStatus,
    rowsRead: meta?.rowsRead ?? 0,
    rowsWritten: meta?.rowsWritten ?? 0,
    durationMs: Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000,
    userId,
    ipHash,
  });
}
