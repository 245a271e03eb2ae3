// The approvals of a namespace with what each would run, newest first.
import type { ApprovalState } from "../../control/approvals.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type ApprovalContext, heldCallOf } from "./approval_context.ts";
import { type ApprovalDetail, approvalDetail } from "./approval_view.ts";

/** Errors: those of `requireNamespace`. */
export async function listApprovals(
  ctx: ApprovalContext,
  input: { readonly namespaceSlug: string; readonly state: ApprovalState | null },
): Promise<ApprovalDetail[]> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const records = await ctx.approvals.list(namespace.id, input.state);
  return await Promise.all(
    records.map(async (record) => approvalDetail(ctx.approvals, record, await heldCallOf(ctx, record))),
  );
}
