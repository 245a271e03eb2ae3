// An approval holds as long as whoever has given it could still give it.
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { UNDECIDED } from "./approval_context.ts";

interface ApproverContext extends Pick<QueryContext, "approvals"> {
  readonly control: ControlPlane;
}

/**
 * Lets pass what the operator has approved, or a member who is an admin still; anything else waits for a decision again.
 * Errors: `approval_pending`.
 */
export async function requireApprover(ctx: ApproverContext, record: ApprovalRecord): Promise<void> {
  const { decidedBy, namespaceId } = record;
  if (!decidedBy?.id.startsWith("mem_")) return;
  const member = await ctx.control.members.byId(namespaceId, decidedBy.id);
  if (member?.role === "admin") return;
  await ctx.approvals.move(record, "approved", UNDECIDED);
  throw new AppError("approval_pending", {
    message: "Wait for another person's decision; whoever approved this write may not decide any more",
  });
}
