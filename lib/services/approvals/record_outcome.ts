// Notes what became of an approved write, for the person who has approved it.
import { AppError } from "../../core/errors.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalOutcome, ApprovalRecord } from "../../store/write_records.ts";

/** The part of an outcome that is not the time. */
type Outcome<Kind> = Kind extends { readonly at: number } ? Omit<Kind, "at"> : never;

/**
 * Notes the outcome of a write that has been redeemed. The write stands whatever becomes of the note: a failure of KV
 * must not tell the caller that it has not run.
 */
export async function recordOutcome(
  { approvals, clock }: Pick<QueryContext, "approvals" | "clock">,
  record: ApprovalRecord,
  outcome: Outcome<ApprovalOutcome>,
): Promise<void> {
  try {
    await approvals.move(record, "redeemed", { outcome: { ...outcome, at: clock.now() } });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
