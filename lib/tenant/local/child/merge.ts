// Brings what a branch has changed into the trunk: in one transaction of the trunk, with its log and audit rows, after a
// snapshot. What both sides have changed is a conflict, for the caller to decide.
import { type BranchDiff, effectOf, type MergeConflict } from "../../../sql/branch_report.ts";
import { LOG_SQL_BYTES } from "../../../core/limits.ts";
import { systemClock } from "../../../core/clock.ts";
import { type Compared, compareSides, withBranch } from "./diff.ts";
import { engineFailure } from "./engine_failure.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import { MergeRun } from "./merge_run.ts";
import { mergeRows } from "./merge_rows.ts";
import { mergeSchema } from "./merge_schema.ts";
import type { MergeRequest, WireFailure, WireMerge } from "./protocol.ts";
import type { SchemaSide } from "./table_pair.ts";
import type { TenantFile } from "./tenant_file.ts";

export interface Merged {
  readonly wire: WireMerge;
  readonly diff: BranchDiff;
  readonly conflicts: { readonly count: number; readonly items: readonly MergeConflict[] };
}

/** Null when the branch's file has no ancestor. */
export function mergeBranch(trunk: TenantFile, branch: TenantFile, request: MergeRequest): Merged | null {
  return withBranch(branch, (ancestor, side) => mergeSides(new MergeRun(request, trunk), ancestor, side));
}

function mergeSides(run: MergeRun, ancestor: SchemaSide, branch: SchemaSide): Merged {
  const startedMs = systemClock.monotonicMs();
  const compared = compareSides(ancestor, branch);
  const { diff, rowsRead } = compared;
  run.rowsRead += rowsRead;
  const { request, trunk } = run;
  if (request.expects !== null && effectOf(diff) !== request.expects) {
    return ending(run, diff, { outcome: "changed", failure: null, snapshotTaken: false, startedMs });
  }
  const writer = trunk.writer();
  let failure: WireFailure | null = null;
  let kept = false;
  // Rows are merged as they are: what cascades and triggers did to them is part of the branch's changes already.
  writer.database.exec("PRAGMA foreign_keys=OFF");
  try {
    writer.internalRun("BEGIN IMMEDIATE");
    if (!request.dryRun) trunk.snapshot(request.snapshot);
    failure = attempt(run, compared, ancestor, branch);
    kept = failure === null && run.unsettled === 0 && run.refusal === null && !request.dryRun;
    if (kept) record(run, systemClock.monotonicMs() - startedMs);
    writer.internalRun(kept ? "COMMIT" : "ROLLBACK");
  } finally {
    if (writer.database.isTransaction) writer.internalRun("ROLLBACK");
    writer.database.exec("PRAGMA foreign_keys=ON");
    writer.schemaChanged();
  }
  const snapshotTaken = kept && (run.written.size > 0 || run.statements.length > 0);
  if (!request.dryRun && !snapshotTaken) trunk.dropSnapshot(request.snapshot);
  return ending(run, diff, { outcome: outcomeOf(run, failure), failure, snapshotTaken, startedMs });
}

function outcomeOf(run: MergeRun, failure: WireFailure | null): WireMerge["outcome"] {
  if (failure !== null) return "failed";
  if (run.refusal !== null) return "refused";
  return run.unsettled > 0 ? "conflict" : "merged";
}

function ending(
  run: MergeRun,
  diff: BranchDiff,
  { startedMs, ...end }: Pick<WireMerge, "outcome" | "failure" | "snapshotTaken"> & {
    readonly startedMs: number;
  },
): Merged {
  return {
    diff,
    conflicts: { count: run.conflicts, items: run.items },
    wire: {
      ...end,
      ...{ reason: run.refusal, rowsRead: run.rowsRead, rowsWritten: run.rowsWritten },
      statementsRun: run.statements.length,
      ms: Math.round((systemClock.monotonicMs() - startedMs) * 1000) / 1000,
    },
  };
}

function attempt(
  run: MergeRun,
  compared: Compared,
  ancestor: SchemaSide,
  branch: SchemaSide,
): WireFailure | null {
  const writer = run.trunk.writer();
  try {
    if (run.request.mode === "schema") mergeSchema(run, compared.known, ancestor.shape, branch.shape);
    else mergeRows(run, compared, ancestor, branch);
    return null;
  } catch (error) {
    return engineFailure(error, writer.guard.denial);
  }
}

/** The log row's text says what ran: the statements of a schema merge, otherwise that it was a merge. */
function record(run: MergeRun, ms: number): void {
  const { request, trunk, statements } = run;
  const writer = trunk.writer();
  const row = [...request.log];
  if (statements.length > 0) row[row.length - 1] = cut(statements.join(";\n"));
  insertCallRow(writer, row, {
    errorKind: null,
    rowsRead: run.rowsRead,
    rowsWritten: run.rowsWritten,
    ms: Math.round(ms * 1000) / 1000,
  });
  insertAuditRow(
    writer,
    request.auditId,
    JSON.stringify([...run.written].sort()),
    request.log,
    run.rowsWritten,
  );
}

function cut(text: string): string {
  return text.length * 3 <= LOG_SQL_BYTES ? text : text.slice(0, Math.floor(LOG_SQL_BYTES / 3));
}
