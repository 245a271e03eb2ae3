// A merge by a person who has seen what it does. Rules hold writes for a person; here a person decides in the same
// moment, so only a rule that denies stops it.
import { requireFresh, requirePerson } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { sha256 } from "../../core/sha256.ts";
import { mergeEffectOf, type MergeReport } from "../../sql/service/branch_report.ts";
import { requireBranch } from "./branch_context.ts";
import { deniedBy, findMergeRules } from "./find_merge_rules.ts";
import type { MergeAnswer, MergeInput } from "./merge_answer.ts";
import { type MergeContext, runMerge } from "./run_merge.ts";

/** What the person has chosen, and `mergeDigest` of the report that the choice was made by. */
export interface SeenMerge extends Omit<MergeInput, "dryRun"> {
  readonly seen: string;
}

/** Equal for two reports of merges that do the same. Hex. */
export function mergeDigest(report: MergeReport): string {
  return sha256().update(mergeEffectOf(report)).digest("hex");
}

/**
 * Merges the branch: exactly what was seen, or nothing. Errors: those of `requirePerson`, `sign_in_again`,
 * `effect_changed` where it would do something else, and those of `mergeBranch` but `approval_required`.
 */
export async function mergeSeen(ctx: MergeContext, { seen, ...chosen }: SeenMerge): Promise<MergeAnswer> {
  requirePerson(ctx.caller, ctx.target.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const branch = await requireBranch(ctx, chosen.ref);
  const input: MergeInput = { ...chosen, dryRun: false };
  const decide = async (report: MergeReport): Promise<null> => {
    if (mergeDigest(report) !== seen) {
      throw new AppError("effect_changed", {
        message: "Look again at what the merge would do; the branch or its trunk has changed since",
      });
    }
    const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
    const denied = deniedBy(findMergeRules(rules, { mode: input.mode, report }));
    if (denied) throw denied;
    return null;
  };
  const merged = await runMerge<never>(ctx, { branch, input, decider: () => Promise.resolve(decide) });
  if (!merged.ok) throw new TypeError("what a person has seen is stopped with an error");
  return merged.answer;
}
