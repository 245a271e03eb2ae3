// A person's decision about a write that waits. An API token never decides, whatever its role: an agent must not
// approve its own writes.
import { type PersonCaller, requireFresh, requirePerson } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { withAct } from "../note_act.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import {
  actOn,
  type ApprovalContext,
  type ApprovalPath,
  deciderOf,
  requireApproval,
} from "./approval_context.ts";
import { type ApprovalPage, approvalPage } from "./read_approvals.ts";

/** A person's decision. */
export interface Decision extends ApprovalPath {
  readonly decision: "approved" | "denied";
  readonly reason: string | null;
  /** `look` of the approval as the person has read it. */
  readonly look: number;
  /** A snapshot is to be taken before it runs, whatever the statement does. */
  readonly snapshot: boolean;
}

/**
 * Deciding the same again changes nothing. Errors: `person_required`, `sign_in_again`, `approval_not_found`,
 * `approval_decided`, also for an approval of another look, or that differs in `snapshot`; `effect_changed` for an
 * approval of what is not the last look, and for a decision during which it was looked at again; those of
 * `requireNamespace`.
 */
export async function decideApproval(ctx: ApprovalContext, input: Decision): Promise<ApprovalPage> {
  const { caller } = ctx;
  requirePerson(caller, input.namespaceSlug);
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requireFresh(caller, ctx.clock.now());
  const record = await requireApproval(ctx, namespace.id, input.approvalId);
  const decided = isDecided(ctx, record, input)
    ? record
    : await decide({ ...ctx, by: caller }, record, input);
  return await approvalPage(ctx, decided);
}

/**
 * Whether this very decision was made before. An approval that differs would be lost if it were answered like the one
 * that stands; of a denial only the reason could differ, and whoever asked may have read that already.
 */
function isDecided(
  { query }: ApprovalContext,
  record: ApprovalRecord,
  { decision, look, snapshot }: Decision,
): boolean {
  if (query.approvals.stateOf(record) !== decision) return false;
  if (decision === "denied") return true;
  return look === (record.look ?? 0) && snapshot === (record.snapshotFirst ?? false);
}

async function decide(
  { by, ...ctx }: ApprovalContext & { readonly by: PersonCaller },
  record: ApprovalRecord,
  input: Decision,
): Promise<ApprovalRecord> {
  const { approvals } = ctx.query;
  const { decision, reason, look, snapshot } = input;
  // A repeated request must not approve what nobody has seen.
  const unseen = decision === "approved" && look !== (record.look ?? 0);
  if (unseen && approvals.stateOf(record) === "pending") throw lookedAgain(record);
  const act = withAct(ctx, `approval.${decision}`, await actOn(ctx, record));
  const change = {
    state: decision,
    reason,
    decidedAt: ctx.clock.now(),
    decidedBy: deciderOf(by),
    snapshotFirst: snapshot,
  };
  const moved = await approvals.move(record, "pending", change, act);
  if (moved) {
    ctx.query.tenants.commits.tell(moved.databaseId);
    return moved;
  }
  // Somebody was faster: has decided it, or redeemed it when it did something else, so that it waits again.
  const now = await requireApproval(ctx, record.namespaceId, record.id);
  if (isDecided(ctx, now, input)) return now;
  throw approvals.stateOf(now) === "pending" ? lookedAgain(now) : new AppError("approval_decided");
}

function lookedAgain({ affectedRows, look = 0 }: ApprovalRecord): AppError {
  return new AppError("effect_changed", {
    message:
      "Read the approval again, and send its look to approve it; what the write would do has changed since",
    extra: { affectedRows, look },
  });
}
