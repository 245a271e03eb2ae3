// Redeems the approval of a merge: its token is claimed already.
import { APPROVAL_MS } from "../../control/approvals.ts";
import { AppError } from "../../core/errors.ts";
import type { HeldCall, HeldMerge } from "../../query/held_call.ts";
import { neverRan } from "../../query/never_ran.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { mergeApproved } from "../branches/merge_approved.ts";
import type { BranchMergeView, MergeContext } from "../branches/run_merge.ts";

type Context = MergeContext & Pick<QueryContext, "held" | "approvals">;

/** Errors: `effect_changed` with both figures, then a person has to look again; those of the merge. */
export async function redeemMerge(
  ctx: Context,
  record: ApprovalRecord,
  held: HeldCall & { readonly merge: HeldMerge },
): Promise<BranchMergeView> {
  const merged = await mergeApproved(ctx, held.merge, {
    covers: held.covers,
    tolerance: record.tolerance,
  }).catch(async (error: unknown) => {
    if (neverRan(error)) await ctx.approvals.move(record, "redeemed", { state: "approved" });
    throw error;
  });
  if (merged.ok) return merged.view;
  const text = JSON.stringify({ ...held, merge: merged.merge });
  const pieces = await ctx.held.keep(record.id, text, record.expiresAt + APPROVAL_MS);
  const affectedRows = merged.merge.mode === "schema" ? null : merged.merge.report.rowsWritten;
  const change = { state: "pending", decidedAt: null, reason: null, affectedRows, pieces } as const;
  await ctx.approvals.move(record, "redeemed", change);
  throw new AppError("effect_changed", { extra: { approvedRows: record.affectedRows, affectedRows } });
}
