// The branch operations of a tenant store: make a branch, compare it with its ancestor, merge it into its trunk.
import type { DatabaseIds } from "../core/database_ids.ts";
import type { BranchDiff, MergeReport } from "../sql/service/branch_report.ts";
import type { RowForm } from "../sql/words/row_form.ts";
import type { ReplayKeys } from "./stored_answer.ts";

/**
 * Databases that are branches of others, each with the state that it began in: the common ancestor. `Log` and `Failure`
 * are `LogIdentity` and `EngineFailure` of the tenant store, which has this as a part of itself.
 */
export interface BranchStore<Log, Failure> {
  /** Copies the present state of `trunkId`, and stores that state as the branch's ancestor. */
  make(branch: DatabaseIds, trunkId: string): Promise<void>;
  /**
   * Compares a branch with its ancestor. Errors: `branch_not_found` for a database that `make` has not made,
   * `merge_refused` where its file is there and its ancestor is not.
   */
  diff(
    branch: DatabaseIds,
    rowForm?: RowForm,
  ): Promise<{ readonly diff: BranchDiff; readonly rowsRead: number }>;
  /** Merges in one transaction of the trunk, with its log and audit rows. Errors: those of `diff`, `database_busy`. */
  merge(trunk: DatabaseIds, merge: BranchMerge<Log>): Promise<MergeOutcome<Failure>>;
}

/** A merge to run. */
export interface BranchMerge<Log> {
  readonly rowForm: RowForm;
  readonly branchId: string;
  readonly mode: "schema" | "data";
  /** What settles a conflict in a row: the branch's changes of it (`theirs`), the trunk's row (`ours`), or nothing: then nothing is merged. */
  readonly onConflict: "abort" | "theirs" | "ours";
  /** The merge runs and is then undone. */
  readonly dryRun: boolean;
  /** `mergeEffectOf` the report of an earlier dry run, which the merge has to match; null: any effect is accepted. */
  readonly expects: string | null;
  readonly snapshot: string;
  readonly log: Log;
  readonly auditId: string;
  /** Keys under which what it has done (`MergeDone` as JSON) is stored in its transaction, so that it can be found. */
  readonly replay?: ReplayKeys | undefined;
}

/** The outcome of a merge. */
export interface MergeOutcome<Failure> {
  /** `changed`: the merge had another effect than expected, and was undone. */
  readonly outcome: "merged" | "conflict" | "refused" | "failed" | "changed";
  readonly report: MergeReport;
  /** Why the merge was refused. */
  readonly reason: string | null;
  /** The index of the statement that failed. */
  readonly failure: Failure | null;
  /** False where the merge changed nothing. */
  readonly snapshotTaken: boolean;
  readonly rowsRead: number;
  readonly durationMs: number;
}
