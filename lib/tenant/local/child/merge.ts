// Merges a branch into its trunk: after a snapshot, in one transaction of the trunk, with its log and audit rows. A row
// that both have changed is a conflict, which the caller decides.
import { roundMs, systemClock } from "../../../core/clock.ts";
import type { BranchDiff, MergeDone, MergeReport } from "../../../sql/service/branch_report.ts";
import type { Compared } from "../../branches/compare_sides.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import { mergeRows } from "../../branches/merge_rows.ts";
import { MergeRun } from "../../branches/merge_run.ts";
import { mergeSchema } from "../../branches/merge_schema.ts";
import { openTrial, runBranchWork } from "./branch_work.ts";
import { compareBranch, type OpenBranch, withBranch } from "./branch_file.ts";
import { type EngineFailure, runFailure } from "../../../engine/engine_failure.ts";
import { commitToDisk } from "./commit_to_disk.ts";
import { CommitChange } from "../../../sql/service/change_rows.ts";
import { insertAuditRow, insertCallRow, insertChange } from "./log_rows.ts";
import { storeReplay } from "./replay.ts";
import type { MergeRequest, WireMerge } from "./protocol.ts";
import type { TenantFile } from "./tenant_file.ts";
import { dropSnapshot, takeSnapshot } from "./own_snapshots.ts";

/** The result of a merge. */
export interface Merged {
  readonly wire: WireMerge;
  readonly report: BranchDiff & Pick<MergeReport, "conflicts" | "writes">;
}

/** About as many bytes of changed rows are held in memory, so that they are not read a second time. */
const HELD_BYTES = 16_000_000;

/** Null when the branch's file has no ancestor. */
export function mergeBranch(trunk: TenantFile, branch: TenantFile, request: MergeRequest): Merged | null {
  return withBranch(branch, (open) => mergeOpen(trunk, open, request));
}

function mergeOpen(trunk: TenantFile, open: OpenBranch, request: MergeRequest): Merged {
  const startedMs = systemClock.monotonicMs();
  const { mode, rowForm } = request;
  const holdBytes = mode === "data" ? HELD_BYTES : 0;
  const compared = compareBranch(open, { holdBytes, rowForm });
  const run = new MergeRun(request, compared.diff);
  run.rowsRead += compared.rowsRead;
  const report = () => ({ ...compared.diff, conflicts: run.conflicts, writes: run.writes });
  let ms: number | null = null;
  const ending = (end: Pick<WireMerge, "outcome" | "failure" | "snapshotTaken">): Merged => ({
    report: report(),
    wire: {
      ...end,
      reason: run.refusal,
      rowsRead: run.rowsRead,
      rowsWritten: run.rowsWritten,
      statementsRun: run.statements.length,
      ms: ms ?? roundMs(systemClock.monotonicMs() - startedMs),
    },
  });
  const writer = trunk.writer();
  let failure: EngineFailure | null = null;
  let commits = false;
  // The branch's changes already include those of its cascades and triggers, so none may run in the trunk.
  writer.database.exec("PRAGMA foreign_keys=OFF");
  try {
    writer.internalRun("BEGIN IMMEDIATE");
    if (!request.dryRun) takeSnapshot(trunk, request.snapshot);
    failure = attempt(run, compared, trunk, open);
    commits = failure === null && run.complete && !request.dryRun;
    if (commits) {
      ms = roundMs(systemClock.monotonicMs() - startedMs);
      record(run, request, trunk, ms);
      if (request.replay !== null) storeDone(run, request.replay, { trunk, ms, report: report() });
      commitToDisk(writer);
    }
  } finally {
    if (writer.database.isTransaction) writer.internalRun("ROLLBACK");
    writer.database.exec("PRAGMA foreign_keys=ON");
    writer.schemaChanged();
  }
  const snapshotTaken = commits && run.wrote;
  if (!request.dryRun && !snapshotTaken) dropSnapshot(trunk, request.snapshot);
  return ending({ outcome: failure === null ? run.outcome : "failed", failure, snapshotTaken });
}

function attempt(
  run: MergeRun,
  compared: Compared,
  trunk: TenantFile,
  open: OpenBranch,
): EngineFailure | null {
  const writer = trunk.writer();
  const work = run.mode === "schema" ? mergeSchema(run, compared, openTrial) : mergeRows(run, compared);
  try {
    runBranchWork(work, { ...open, trunk: writer });
    return null;
  } catch (error) {
    return runFailure(error, writer.guard.denial, "");
  }
}

function record(run: MergeRun, { log, auditId }: MergeRequest, trunk: TenantFile, ms: number): void {
  const writer = trunk.writer();
  const row = [...log.slice(0, -1), run.logText(String(log.at(-1)))];
  insertCallRow(writer, row, {
    errorKind: null,
    rowsRead: run.rowsRead,
    rowsWritten: run.rowsWritten,
    ms,
  });
  insertAuditRow(writer, auditId, JSON.stringify(run.auditTables), log, run.rowsWritten);
  const change = new CommitChange();
  change.add({ ...run.changed, rows: run.rowsWritten, at: Number(log[1]) });
  insertChange(writer, change);
}

/** In the open transaction. */
function storeDone(
  run: MergeRun,
  replay: ReplayKeys,
  { trunk, ms, report }: Pick<Merged, "report"> & { readonly trunk: TenantFile; readonly ms: number },
): void {
  const { rowsRead, rowsWritten, statements, wrote } = run;
  const done: MergeDone = {
    report: { ...report, rowsWritten, statementsRun: statements.length },
    snapshotTaken: wrote,
  };
  const text = JSON.stringify(done);
  const results = [[text.length, rowsRead, rowsWritten]] as const;
  storeReplay(trunk.writer(), replay, { results, text, durationMs: ms, rowsReadBasis: "engine" });
}
