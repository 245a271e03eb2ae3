// Log rows as values in column order, the form in which every store writes them.
import { roundMs } from "../core/clock.ts";
import type { EndpointCallRow } from "./endpoint_call_row.ts";
import { loggedKind } from "./call_records.ts";
import type { LogIdentity, LogRow, TenantCall, TenantOutcome } from "./tenant_store.ts";

/** A value of a log row. */
export type LogValue = string | number | null;
/** Columns of `_service_meta_query_log` or of `_service_meta_endpoint_call` in order, from `id` on. */
export type LogValues = readonly LogValue[];

/** The figures of a call that has not run yet. */
export const noFigures = {
  status: "ok",
  errorKind: null,
  rowsRead: 0,
  rowsWritten: 0,
  durationMs: 0,
} as const;

/** A whole row of the query log, in the column order of its table. */
export function logRow(row: LogRow): LogValues {
  return logColumns(row, row);
}

/** The values in the column order of `_service_meta_query_log`. */
export function logColumns(row: LogIdentity, figures: Omit<LogRow, keyof LogIdentity>): LogValues {
  return valuesOf(
    row.id,
    row.ts,
    row.namespaceId,
    row.databaseId,
    row.tokenId,
    row.userId,
    row.operation,
    figures.status,
    figures.errorKind,
    figures.rowsRead,
    figures.rowsWritten,
    figures.durationMs,
    row.statementCount,
    row.sql,
  );
}

/**
 * An array that no literal makes: V8 learns that arrays of a literal often survive, and allocates all of them in its old
 * generation from then on. `Array.of` takes eight times as long.
 */
function valuesOf(...values: LogValue[]): LogValues {
  return values;
}

/** The values in the column order of `_service_meta_endpoint_call`. */
export function endpointCallRow(row: EndpointCallRow): LogValues {
  return [
    row.id,
    row.ts,
    row.endpoint,
    row.status,
    row.httpStatus,
    row.rowsRead,
    row.rowsWritten,
    row.durationMs,
    row.userId,
    row.ipHash,
    row.code,
    row.hits,
    row.count,
  ];
}

/** Makes the log row of a call whose engine has not written one. */
export function logRowOf(call: TenantCall, outcome: TenantOutcome): LogValues | null {
  if (typeof outcome.ok === "string" || call.log === null) return null;
  let { rowsRead, rowsWritten } = outcome.ok ? noFigures : outcome.work;
  for (const result of outcome.ok ? outcome.results : []) {
    rowsRead += result.rowsRead;
    rowsWritten += result.rowsWritten;
  }
  const errorKind = loggedKind(call, outcome.ok ? undefined : outcome.failure);
  const status = errorKind === null ? "ok" : "error";
  const durationMs = roundMs(outcome.durationMs + (call.stoppedMs ?? 0));
  return logColumns(call.log, { status, errorKind, rowsRead, rowsWritten, durationMs });
}

/** The number of columns of `_service_meta_query_log`, which distinguishes its rows from those of endpoint calls. */
export const LOG_COLUMNS = 14;
/** The number of columns of `_service_meta_endpoint_call`. */
export const ENDPOINT_CALL_COLUMNS = 13;
const STATUS = 3;

/** Whether a log row, as values in column order, is that of a refused call, which later refusals replace. */
export function isRefusal(row: readonly unknown[]): boolean {
  return row.length !== LOG_COLUMNS && row[STATUS] === "error";
}
