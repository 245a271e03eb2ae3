// A write that needs a person's approval: kept with what it would do, and its approval token handed to the caller.
import { newToken, tokenHash } from "../access/token_format.ts";
import { APPROVAL_MS } from "../control/approvals.ts";
import { isoTime } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { StatementEffect } from "../tenant/statement_effect.ts";
import { affectedRows, writeHeldCall } from "./held_call.ts";
import type { RuleMatch } from "./match_rules.ts";
import type { QueryContext, QueryTarget, UnderstoodCall } from "./query_call.ts";

export interface ToHold {
  readonly target: QueryTarget;
  readonly tokenId: string;
  readonly matches: readonly RuleMatch[];
  readonly affectedRows: number | null;
  /** In the form of `held_call.ts`, given what its approval is good for. */
  readonly text: (covers: readonly string[]) => string;
}

export type HoldContext = Pick<QueryContext, "approvals" | "held" | "clock" | "baseUrl">;

/** The error for a call with those effects. Errors: `meter_unreachable`. */
export function holdCall(
  ctx: HoldContext,
  { call }: UnderstoodCall,
  held: Pick<ToHold, "matches"> & { readonly effects: readonly StatementEffect[] },
): Promise<AppError> {
  const { matches, effects } = held;
  return holdForApproval(ctx, {
    ...{ target: call.target, tokenId: call.tokenId, matches, affectedRows: affectedRows(effects) },
    text: (covers) => writeHeldCall(call, effects, covers),
  });
}

/** The error that carries the approval envelope, or `too_many_approvals`. Errors: `meter_unreachable`. */
export async function holdForApproval(
  ctx: HoldContext,
  { target, tokenId, matches, affectedRows, text }: ToHold,
): Promise<AppError> {
  if (await ctx.approvals.areMany(target.databaseId)) return new AppError("too_many_approvals");
  const now = ctx.clock.now();
  const token = newToken("appr_");
  const id = newId("apv", now);
  const expiresAt = now + APPROVAL_MS;
  const hits = matches.map(({ hit }) => hit);
  const covers = matches.flatMap(({ about }) => about);
  const pieces = await ctx.held.keep(id, text(covers), expiresAt + APPROVAL_MS);
  await ctx.approvals.add({
    id,
    tokenHash: tokenHash(token),
    namespaceId: target.namespaceId,
    databaseId: target.databaseId,
    databaseSlug: target.databaseSlug,
    branchRef: target.branchRef,
    requestedBy: tokenId,
    state: "pending",
    hits,
    affectedRows,
    tolerance: Math.min(...matches.map(({ rule }) => rule.tolerance)),
    ...{ createdAt: now, expiresAt, decidedAt: null, reason: null, pieces },
  });
  return new AppError("approval_required", {
    extra: {
      approvalToken: token,
      approvalUrl: `${ctx.baseUrl}/console/${target.namespaceSlug}/approvals/${id}`,
      hits,
      expiresAt: isoTime(expiresAt),
    },
  });
}
