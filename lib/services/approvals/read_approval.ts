// What has become of an approval, for whoever asked for it; can wait for a change.
import { isToken, tokenHash } from "../../access/token_format.ts";
import { AppError } from "../../core/errors.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { type ApprovalView, approvalView } from "./approval_view.ts";

/** Milliseconds between two polls of a request that waits. */
const POLL_MS = 300;

/** Which approval, and how long to wait for a decision. */
export interface ReadApprovalInput {
  readonly approvalToken: string;
  readonly waitSec: number;
  readonly signal: AbortSignal;
}

/** The record behind a token, of this database. Errors: `approval_not_found`. */
export async function findApproval(ctx: StatementsContext, token: string): Promise<ApprovalRecord> {
  const record = isToken("appr_", token) ? await ctx.approvals.byHash(tokenHash(token)) : null;
  if (record === null || record.databaseId !== ctx.target.databaseId) {
    throw new AppError("approval_not_found");
  }
  return record;
}

/**
 * The approval of a token, after a wait while nobody has decided about it. Errors: `approval_not_found`, `not_yours`
 * (neither the requesting token nor an admin).
 */
export async function readApproval(ctx: StatementsContext, input: ReadApprovalInput): Promise<ApprovalView> {
  let record = await findApproval(ctx, input.approvalToken);
  if (record.requestedBy !== ctx.tokenId && ctx.target.role !== "admin") throw new AppError("not_yours");
  const untilMs = ctx.clock.monotonicMs() + input.waitSec * 1000;
  while (
    ctx.approvals.stateOf(record) === "pending" && ctx.clock.monotonicMs() < untilMs && !input.signal.aborted
  ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    record = await findApproval(ctx, input.approvalToken);
  }
  return approvalView(ctx.approvals, record);
}
