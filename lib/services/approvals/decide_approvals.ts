// The approvals of a namespace for the people who decide about them. An API token never decides, whatever its role:
// an agent must not approve its own writes.
import type { Approvals, ApprovalState } from "../../control/approvals.ts";
import type { HeldCalls } from "../../control/held_calls.ts";
import { AppError } from "../../core/errors.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { type ApprovalDetail, approvalDetail, heldCallOf } from "./approval_view.ts";

/** What the services of people who decide need of a request. */
export interface ApprovalContext extends ManageContext {
  readonly approvals: Approvals;
  readonly held: HeldCalls;
}

/** The approvals of a namespace with what each would run, newest first. Errors: those of `requireNamespace`. */
export async function listApprovals(
  ctx: ApprovalContext,
  input: { readonly namespaceSlug: string; readonly state: ApprovalState | null },
): Promise<ApprovalDetail[]> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const records = await ctx.approvals.list(namespace.id, input.state);
  const details: ApprovalDetail[] = [];
  for (const record of records) {
    // KV forgets a record and its text one after the other: one whose text is gone must not hide the rest.
    const held = await heldCallOf(ctx, record).catch(nullIfGone);
    if (held) details.push(approvalDetail(ctx.approvals, record, held));
  }
  return details;
}

function nullIfGone(error: unknown): null {
  if (error instanceof AppError && error.code === "approval_not_found") return null;
  throw error;
}

/** A person's decision. */
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
 * `effect_changed` for an approval of what is not the last look, and for a decision during which it was looked at
 * again.
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
