// Branches as a tenant store keeps them: made, compared with what they began as, merged into their trunk.
import type { BranchDiff, MergeReport } from "../sql/branch_report.ts";
import type { RowForm } from "../sql/row_form.ts";

/**
 * Databases that are branches of others, each with the state that it began in: the common ancestor. `Log` and `Failure`
 * are `LogIdentity` and `EngineFailure` of the tenant store, which has this as a part of itself.
 */
export interface BranchStore<Log, Failure> {
  /** As `copy` of the present state of `trunkId`, with the ancestor. */
  make(branch: BranchHandle, trunkId: string): Promise<void>;
  /** What a branch has changed since it was made. Errors: `branch_not_found` for what `make` has not made. */
  diff(
    branch: BranchHandle,
    rowForm?: RowForm,
  ): Promise<{ readonly diff: BranchDiff; readonly rowsRead: number }>;
  /** In one transaction of the trunk, with its log and audit rows. Errors: `branch_not_found`, `database_busy`. */
  merge(trunk: BranchHandle, merge: BranchMerge<Log>): Promise<MergeOutcome<Failure>>;
}

/** A branch and its namespace. */
export interface BranchHandle {
  readonly databaseId: string;
  readonly namespaceId: string;
}

/** A merge to run. */
export interface BranchMerge<Log> {
  readonly rowForm: RowForm;
  readonly branchId: string;
  readonly mode: "schema" | "data";
  /** What becomes of a conflict: the branch's side counts (`theirs`), the trunk's (`ours`), or nothing is merged. */
  readonly onConflict: "abort" | "theirs" | "ours";
  /** Everything is done and then undone. */
  readonly dryRun: boolean;
  /** `mergeEffectOf` the report of the dry run that was looked at before, null where none was. */
  readonly expects: string | null;
  readonly snapshot: string;
  readonly log: Log;
  readonly auditId: string;
}

/** What a merge came to. */
export interface MergeOutcome<Failure> {
  /** `changed`: it would have done something else than expected, and was undone. */
  readonly outcome: "merged" | "conflict" | "refused" | "failed" | "changed";
  readonly report: MergeReport;
  /** Why it was refused. */
  readonly reason: string | null;
  /** Of the statement that failed. */
  readonly failure: Failure | null;
  /** False: nothing changed. */
  readonly snapshotTaken: boolean;
  readonly rowsRead: number;
  readonly durationMs: number;
}
