// A person's decision. An API token never decides, whatever its role: an agent must not approve its own writes.
import { AppError } from "../../core/errors.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { type ApprovalContext, heldCallOf } from "./approval_context.ts";
import { type ApprovalDetail, approvalDetail } from "./approval_view.ts";

export interface Decision {
  readonly namespaceSlug: string;
  readonly approvalId: string;
  readonly decision: "approved" | "denied";
  readonly reason: string | null;
  /** `look` of the approval as the person has read it. */
  readonly look: number;
}

/**
 * Deciding the same again changes nothing. Errors: `person_required`, `approval_not_found`, `approval_decided`,
 * `effect_changed` for an approval of what is not the last look, and for a decision during which it was looked at again.
 */
export async function decideApproval(ctx: ApprovalContext, input: Decision): Promise<ApprovalDetail> {
  if (ctx.caller.kind === "token") throw new AppError("person_required");
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const record = await findById(ctx, namespace.id, input.approvalId);
  const decided = ctx.approvals.stateOf(record) === input.decision
    ? record
    : await decide(ctx, record, input);
  return approvalDetail(ctx.approvals, decided, await heldCallOf(ctx, decided));
}

async function findById(
  ctx: ApprovalContext,
  namespaceId: string,
  approvalId: string,
): Promise<ApprovalRecord> {
  const record = await ctx.approvals.byId(namespaceId, approvalId);
  if (record === null) throw new AppError("approval_not_found");
  return record;
}

async function decide(
  ctx: ApprovalContext,
  record: ApprovalRecord,
  { decision, reason, look }: Decision,
): Promise<ApprovalRecord> {
  // A repeated request must not approve what nobody has seen.
  const unseen = decision === "approved" && look !== (record.look ?? 0);
  if (unseen && ctx.approvals.stateOf(record) === "pending") throw lookedAgain(record);
  const change = { state: decision, reason, decidedAt: ctx.clock.now() };
  const moved = await ctx.approvals.move(record, "pending", change);
  if (moved) return moved;
  // Somebody was faster: has decided it, or redeemed it when it did something else, so that it waits again.
  const now = await findById(ctx, record.namespaceId, record.id);
  const state = ctx.approvals.stateOf(now);
  if (state === decision && now.look === record.look) return now;
  throw state === "pending" ? lookedAgain(now) : new AppError("approval_decided");
}

function lookedAgain({ affectedRows, look = 0 }: ApprovalRecord): AppError {
  return new AppError("effect_changed", {
    message:
      "Read the approval again, and send its look to approve it; what the write would do has changed since",
    extra: { affectedRows, look },
  });
}
