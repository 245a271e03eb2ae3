// What becomes of an approval that was claimed for a write which then did not run.
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { neverRan } from "../../query/never_ran.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";

/** Approved as before where the call was not to blame, denied where a rule stops it by now, else as it is. */
export async function afterRefusal(
  { approvals, clock }: Pick<QueryContext, "approvals" | "clock">,
  record: ApprovalRecord,
  error: unknown,
): Promise<void> {
  if (neverRan(error)) await approvals.move(record, "redeemed", { state: "approved" });
  const reason = error instanceof AppError ? stoppedBy[error.code] : undefined;
  if (reason === undefined) return;
  await approvals.move(record, "redeemed", { state: "denied", reason, decidedAt: clock.now() });
}

const stoppedBy: Partial<Record<ErrorCode, string>> = {
  rule_denied: "A rule that has come since the approval denies this write",
  approval_required: "A rule holds this write for what was not approved; it waits for another approval",
};
