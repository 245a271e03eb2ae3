// A look at what a merge would do, somebody's judgement of it, and then the merge, if it still does exactly that.
import { AppError } from "../../core/errors.ts";
import { mergeEffectOf, type MergeReport } from "../../sql/branch_report.ts";
import {
  type MergeAnswer,
  mergeAnswer,
  mergeError,
  type MergeInput,
  type PaidMergeContext,
  runMerge,
} from "./run_merge.ts";

/** Times that it looks anew because the branch or the trunk changed between the look and the merge. */
const MAX_ATTEMPTS = 5;

export interface JudgedMerge<Stop> {
  readonly branchId: string;
  readonly input: Pick<MergeInput, "ref" | "mode" | "onConflict" | "integersAsStrings">;
  /** Given the report of a dry run that ended well: null lets the merge go on. */
  readonly judge: (report: MergeReport) => Promise<Stop | null>;
}

export type Judged<Stop> =
  | { readonly ok: true; readonly answer: MergeAnswer }
  /** Nothing was merged. */
  | { readonly ok: false; readonly stop: Stop };

/**
 * Errors: those of `mergeError`, told before anybody judges a merge that can only fail; `database_busy` where what it
 * would do keeps changing; those of the judgement.
 */
export async function mergeAsJudged<Stop>(
  ctx: PaidMergeContext,
  { branchId, input, judge }: JudgedMerge<Stop>,
): Promise<Judged<Stop>> {
  const merge = { ...input, dryRun: false };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const look = await runMerge(ctx, branchId, { ...input, dryRun: true, expects: null });
    if (look.outcome.outcome !== "merged") throw await mergeError(ctx, merge, look);
    const { report } = look.outcome;
    const stop = await judge(report);
    if (stop !== null) return { ok: false, stop };
    const run = await runMerge(ctx, branchId, { ...merge, expects: mergeEffectOf(report) });
    if (run.outcome.outcome !== "changed") return { ok: true, answer: await mergeAnswer(ctx, merge, run) };
  }
  throw new AppError("database_busy", {
    message: "Try again when nobody writes the branch or its trunk; what the merge would do keeps changing",
  });
}
