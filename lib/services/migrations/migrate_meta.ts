// The figures of several files together.
import type { QueryMeta } from "../../query/query_call.ts";

/** The figures of all files together. */
export type MigrateMeta =
  & Pick<
    QueryMeta,
    "rowsRead" | "rowsWritten" | "durationMs" | "statementCount" | "costUsd" | "snapshot"
  >
  & {
    /** Of the last file; null: none was applied. */
    readonly queryLogId: string | null;
    /** Each once. Absent where there are none. */
    readonly warnings?: readonly string[];
  };

/** Of a call that has applied nothing. */
export const NO_FIGURES: MigrateMeta = {
  rowsRead: 0,
  rowsWritten: 0,
  durationMs: 0,
  statementCount: 0,
  costUsd: 0,
  snapshot: null,
  queryLogId: null,
};

/** With further warnings. */
export function addWarnings(meta: MigrateMeta, more: readonly string[]): MigrateMeta {
  const warnings = [...new Set([...meta.warnings ?? [], ...more])];
  return warnings.length === 0 ? meta : { ...meta, warnings };
}

/** The figures of files that were applied one after the other. */
export function addFigures(sum: MigrateMeta, one: QueryMeta): MigrateMeta {
  const figures = {
    rowsRead: sum.rowsRead + one.rowsRead,
    rowsWritten: sum.rowsWritten + one.rowsWritten,
    durationMs: sum.durationMs + one.durationMs,
    statementCount: sum.statementCount + one.statementCount,
    costUsd: sum.costUsd + one.costUsd,
    snapshot: sum.snapshot ?? one.snapshot,
    queryLogId: one.queryLogId,
  };
  return addWarnings(figures, [...sum.warnings ?? [], ...one.warnings ?? []]);
}
