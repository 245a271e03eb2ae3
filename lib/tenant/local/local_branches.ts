// Branches of embedded databases: copies with a stored ancestor, which engine children compare and merge.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { BranchDiff, MergeReport } from "../../sql/service/branch_report.ts";
import { PLAIN_ROWS, type RowForm } from "../../sql/words/row_form.ts";
import type { BranchMerge, BranchStore, MergeOutcome } from "../branch_store.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { LogIdentity, TenantStore } from "../tenant_store.ts";
import type { DatabaseHost } from "./database_host.ts";
import { snapshotName } from "./files/snapshot_files.ts";
import { logRow } from "../log_columns.ts";

/** The branches of this store. */
export class LocalBranches implements BranchStore<LogIdentity, EngineFailure> {
  /** Branches that a merge reads from the lanes of their trunk, and how many do: nobody may replace their files. */
  readonly #read = new Map<string, number>();

  constructor(
    private readonly host: DatabaseHost & Pick<TenantStore, "copy">,
    private readonly clock: Clock,
    private readonly pruneSnapshots: (databaseId: string) => void,
  ) {}

  async make({ databaseId, namespaceId }: DatabaseIds, trunkId: string): Promise<void> {
    await this.host.task({ op: "fold_log", db: trunkId }, "write", namespaceId);
    await this.host.copy(databaseId, { databaseId: trunkId, snapshot: null });
    // The ancestor is copied from the branch, which nobody writes yet, so that writers of the trunk wait for one copy only.
    await this.host.task({ op: "store_ancestor", db: databaseId }, "write", namespaceId);
  }

  async diff(
    { databaseId, namespaceId }: DatabaseIds,
    rowForm: RowForm = PLAIN_ROWS,
  ): Promise<{ readonly diff: BranchDiff; readonly rowsRead: number }> {
    const { reply, text } = await this.host.task(
      { op: "diff", db: databaseId, rowForm },
      "read",
      namespaceId,
    );
    if (reply.t === "missing") throw missingError(reply.ancestor === true);
    if (reply.t !== "compared") throw new AppError("store_unavailable");
    return { diff: parseDiff(text), rowsRead: reply.rowsRead };
  }

  async merge(
    { databaseId, namespaceId }: DatabaseIds,
    merge: BranchMerge<LogIdentity>,
  ): Promise<MergeOutcome<EngineFailure>> {
    const { branchId, mode, onConflict, dryRun, expects, rowForm, auditId } = merge;
    if (this.host.lanes({ databaseId: branchId, namespaceId }).held) throw new AppError("database_busy");
    this.#read.set(branchId, (this.#read.get(branchId) ?? 0) + 1);
    try {
      this.host.lanes({ databaseId: branchId, namespaceId }).writes.giveWay();
      const lanes = this.host.lanes({ databaseId, namespaceId });
      if (!dryRun) await this.host.transactions.endAll(lanes, "a branch was merged");
      const { reply, text } = await this.host.task(
        {
          op: "merge",
          db: databaseId,
          branch: branchId,
          mode,
          onConflict,
          dryRun,
          expects,
          rowForm,
          auditId,
          replay: merge.replay ?? null,
          snapshot: snapshotName(this.clock.now(), merge.snapshot),
          log: logRow({ ...merge.log, ...noFigures }),
        },
        "write",
        namespaceId,
      );
      if (reply.t === "missing") throw missingError(reply.ancestor === true);
      if (reply.t !== "merged") throw new AppError("store_unavailable");
      if (reply.merge.snapshotTaken) this.pruneSnapshots(databaseId);
      const { outcome, reason, failure, snapshotTaken, rowsRead, rowsWritten, statementsRun, ms } =
        reply.merge;
      const report = { ...parseReport(text), rowsWritten, statementsRun };
      return { outcome, report, reason, failure, snapshotTaken, rowsRead, durationMs: ms };
    } finally {
      this.host.commits.tell(databaseId);
      const readers = (this.#read.get(branchId) ?? 1) - 1;
      if (readers === 0) this.#read.delete(branchId);
      else this.#read.set(branchId, readers);
    }
  }

  isRead(databaseId: string): boolean {
    return this.#read.has(databaseId);
  }
}

/** A branch that was brought back from the archive has its file, but not its ancestor. */
function missingError(onlyAncestor: boolean): AppError {
  if (!onlyAncestor) return new AppError("branch_not_found");
  const message =
    "Export what the branch has, then reset it; the state it began in is lost, so it cannot be compared or merged";
  return new AppError("merge_refused", { message });
}

const noFigures = { status: "ok", errorKind: null, rowsRead: 0, rowsWritten: 0, durationMs: 0 } as const;

/** Guarantee: an engine child wrote the comparison. */
function parseDiff(text: string): BranchDiff {
  return JSON.parse(text);
}

/** Guarantee: an engine child wrote the report. */
function parseReport(text: string): BranchDiff & Pick<MergeReport, "conflicts" | "writes"> {
  return JSON.parse(text);
}
