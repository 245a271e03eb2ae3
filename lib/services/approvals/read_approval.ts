// What has become of an approval, for whoever asked for it; can wait for a change.
import { isToken, tokenHash } from "../../access/token_format.ts";
import { AppError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { type ApprovalView, approvalView } from "./approval_view.ts";
import { pause } from "../../core/pause.ts";

/** Milliseconds between two polls of a request that waits. */
const POLL_MS = 300;

/** By what an approval is found: its secret token, or its id, which everybody may know who sees its page. */
export type ApprovalKey = { readonly approvalToken: string } | { readonly approvalId: string };

/** How long to wait for a decision. */
export interface ReadApprovalInput {
  readonly waitSec: number;
  readonly signal: AbortSignal;
  /** Looks once more at who asks, after a wait. May throw: the token may have been revoked. */
  readonly again: () => Promise<unknown>;
}

/** The record behind a token or an id, of this database. Errors: `approval_not_found`. */
export async function findApproval(ctx: StatementsContext, key: ApprovalKey): Promise<ApprovalRecord> {
  const record = await recordOf(ctx, key);
  if (record === null || record.databaseId !== ctx.target.databaseId) {
    throw new AppError("approval_not_found");
  }
  return record;
}

async function recordOf(ctx: StatementsContext, key: ApprovalKey): Promise<ApprovalRecord | null> {
  if ("approvalId" in key) {
    const known = isId("apv", key.approvalId);
    return known ? await ctx.approvals.byId(ctx.target.namespaceId, key.approvalId) : null;
  }
  return isToken("appr_", key.approvalToken)
    ? await ctx.approvals.byHash(tokenHash(key.approvalToken))
    : null;
}

/**
 * The approval, after a wait while nobody has decided about it. Errors: `approval_not_found`, `not_yours`
 * (neither the requesting token nor an admin), those of `again`.
 */
export async function readApproval(
  ctx: StatementsContext,
  input: ReadApprovalInput & ApprovalKey,
): Promise<ApprovalView> {
  let record = await findApproval(ctx, input);
  if (record.requestedBy !== ctx.tokenId && ctx.target.role !== "admin") throw new AppError("not_yours");
  const untilMs = ctx.clock.monotonicMs() + input.waitSec * 1000;
  const isPending = () => ctx.approvals.stateOf(record) === "pending";
  const waits = input.waitSec > 0 && isPending();
  while (isPending() && ctx.clock.monotonicMs() < untilMs && !input.signal.aborted) {
    await pause(POLL_MS);
    record = await findApproval(ctx, input);
  }
  if (waits) await input.again();
  return approvalView(ctx.approvals, record);
}
