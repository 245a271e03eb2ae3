// Redeems the approval of a merge: its token is claimed already.
import { type HeldCall, type HeldMerge, heldText } from "../../query/held_call.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { mergeApproved } from "../branches/merge_approved.ts";
import type { MergeAnswer } from "../branches/merge_answer.ts";
import type { MergeContext } from "../branches/run_merge.ts";
import { afterRefusal, lookAgain } from "./after_failure.ts";

type Context = MergeContext & Pick<QueryContext, "held" | "approvals">;

/** Errors: `effect_changed` with both figures, then a person has to look again; those of the merge. */
export async function redeemMerge(
  ctx: Context,
  record: ApprovalRecord,
  held: HeldCall & { readonly merge: HeldMerge },
): Promise<MergeAnswer> {
  const merged = await mergeApproved(ctx, held.merge, {
    covers: held.covers,
    tolerance: record.tolerance,
    rowForm: held.rowForm,
  }).catch(async (error: unknown) => {
    await afterRefusal(ctx, record, error);
    throw error;
  });
  if (merged.ok) return merged.answer;
  const { merge, matches } = merged.stop;
  const covers = new Set([...held.covers, ...matches.flatMap(({ about }) => about)]);
  throw await lookAgain(ctx, record, {
    affectedRows: merge.mode === "schema" ? null : merge.report.rowsWritten,
    text: heldText({ ...held, covers: [...covers], merge }),
    matches,
  });
}
