// Step 11: writes one row for each call into the tenant's own `_service_meta_endpoint_call`. Equal refusals of a minute
// share a row.
import type { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { EndpointCallRow } from "../../tenant/endpoint_call_row.ts";
import type { PublishedContext, ResolvedEndpoint } from "./published_context.ts";

/** What is recorded about a call. */
export interface CallFigures {
  readonly httpStatus: number;
  /** Monotonic time at which the call began. */
  readonly startedMs: number;
  /** Figures of a call that was answered. */
  readonly meta?: QueryMeta | null;
  /** Why a call failed, in the words for the owner. */
  readonly failure?: AppError;
  readonly userId: string | null;
  readonly ipHash: string | null;
}

/** Never fails and never waits. The next statement that reads the log sees the row. */
export function recordCall(
  { query, clock, refusals }: Pick<PublishedContext, "query" | "clock" | "refusals">,
  { record, target }: ResolvedEndpoint,
  { httpStatus, startedMs, meta, failure, userId, ipHash }: CallFigures,
): void {
  const database = query.tenants.open(target.databaseId, target.namespaceId);
  const ts = clock.now();
  const hits = failure?.facts.extra?.["hits"];
  const row: EndpointCallRow = {
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
    code: failure?.code ?? null,
    hits: hits === undefined ? null : JSON.stringify(hits),
    count: 1,
  };
  database.recordEndpointCall(failure === undefined ? row : refusals.fold(target.databaseId, row));
}
