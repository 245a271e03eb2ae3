// What the services of people who decide work with.
import type { Approvals } from "../../control/approvals.ts";
import type { HeldCalls } from "../../control/held_calls.ts";
import { AppError } from "../../core/errors.ts";
import { type HeldCall, readHeldCall } from "../../query/held_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { ManageContext } from "../manage_context.ts";

export interface ApprovalContext extends ManageContext {
  readonly approvals: Approvals;
  readonly held: HeldCalls;
}

/** Errors: `approval_not_found` when its text is gone. */
export async function heldCallOf(
  ctx: Pick<ApprovalContext, "held">,
  record: ApprovalRecord,
): Promise<HeldCall> {
  const text = await ctx.held.read(record.heldId ?? record.id, record.pieces);
  if (text === null) throw new AppError("approval_not_found");
  return readHeldCall(text);
}
