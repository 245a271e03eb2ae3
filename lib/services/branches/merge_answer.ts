// What a merge is asked for, and how its outcome is told.
import { AppError } from "../../core/errors.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import { failureError } from "../../query/failure_error.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { MergeReport } from "../../sql/service/branch_report.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { MergeOutcome } from "../../tenant/branch_store.ts";
import type { TenantDatabase } from "../../tenant/tenant_store.ts";

/** A merge of a branch into its trunk. */
export interface MergeInput {
  readonly rowForm: RowForm;
  readonly ref: string;
  readonly mode: "schema" | "data";
  readonly onConflict: "abort" | "theirs" | "ours";
  readonly dryRun: boolean;
}

/** The report of a merge as the API shows it. */
export interface BranchMergeView extends MergeReport {
  readonly branchRef: string;
  readonly mode: MergeInput["mode"];
  readonly dryRun: boolean;
  /** Label of the snapshot of the trunk before; null where nothing was merged. */
  readonly snapshot: string | null;
}

/** What the store has done, and what the answer says of it. */
export interface MergeRun {
  readonly outcome: MergeOutcome<EngineFailure>;
  readonly meta: QueryMeta;
}

/** The answer of a merge, or of a dry run of one. */
export interface MergeAnswer {
  readonly data: BranchMergeView;
  readonly meta: QueryMeta;
  /** For the `Server-Timing` header. */
  readonly timing: string;
  /** It is that of an earlier call, the same step of a plan. */
  readonly replayed?: true;
}

/** The report of one that ended well, of a dry run also with conflicts. Errors: those of `mergeError`. */
export async function mergeAnswer(
  trunk: TenantDatabase,
  input: MergeInput,
  run: MergeRun,
): Promise<Omit<MergeAnswer, "timing">> {
  const { outcome: { outcome }, meta } = run;
  if (outcome === "merged" || (outcome === "conflict" && input.dryRun)) {
    return { data: { ...viewOf(input, run), snapshot: meta.snapshot }, meta };
  }
  throw await mergeError(trunk, input, run);
}

const NO_TARGET =
  "Bring back the rows that others refer to, or remove those that do, on one side; merged, their foreign keys would have no target";

/**
 * Why one has failed: `merge_conflict` and `merge_refused` with the report as `data`, or the error of its statement.
 */
export async function mergeError(
  trunk: TenantDatabase,
  input: MergeInput,
  run: MergeRun,
): Promise<AppError> {
  const { outcome, failure, reason } = run.outcome;
  const data = viewOf(input, run);
  if (outcome === "conflict") {
    // `theirs` and `ours` settle all others.
    const onlyReferences = input.onConflict !== "abort" ||
      data.conflicts.items.every(({ kind }) => kind === "foreign_key");
    return new AppError("merge_conflict", {
      ...(onlyReferences ? { message: NO_TARGET } : {}),
      extra: { data },
    });
  }
  if (failure === null) {
    return new AppError("merge_refused", {
      ...(reason === null ? {} : { message: reason }),
      extra: { data },
    });
  }
  return await failureError(trunk, { failure, verb: "other", target: null, index: null });
}

function viewOf({ ref, mode, dryRun }: MergeInput, { outcome: { report } }: MergeRun): BranchMergeView {
  return { branchRef: ref, mode, dryRun, ...report, snapshot: null };
}
