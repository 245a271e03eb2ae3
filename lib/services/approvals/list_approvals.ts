// The approvals of a namespace with what each would run, newest first.
import { AppError } from "../../core/errors.ts";
import type { ApprovalState } from "../../control/approvals.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { type ApprovalContext, heldCallOf } from "./approval_context.ts";
import { type ApprovalDetail, approvalDetail } from "./approval_view.ts";

/** Errors: those of `requireNamespace`. */
export async function listApprovals(
  ctx: ApprovalContext,
  input: { readonly namespaceSlug: string; readonly state: ApprovalState | null },
): Promise<ApprovalDetail[]> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const records = await ctx.approvals.list(namespace.id, input.state);
  const details: ApprovalDetail[] = [];
  for (const record of records) {
    // KV forgets the two one after the other: what is gone must not hide the rest.
    const held = await heldCallOf(ctx, record).catch(gone);
    if (held) details.push(approvalDetail(ctx.approvals, record, held));
  }
  return details;
}

function gone(error: unknown): null {
  if (error instanceof AppError && error.code === "approval_not_found") return null;
  throw error;
}
