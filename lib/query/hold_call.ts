// A write that needs a person's approval: kept with what it would do, and its approval token handed to the caller.
import { newToken, tokenHash } from "../access/token_format.ts";
import { APPROVAL_MS } from "../control/approvals.ts";
import { isoTime } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { StatementEffect } from "../tenant/tenant_store.ts";
import { affectedRows, writeHeldCall } from "./held_call.ts";
import type { RuleMatch } from "./match_rules.ts";
import type { QueryContext, UnderstoodCall } from "./query_call.ts";

export interface HoldInput {
  readonly matches: readonly RuleMatch[];
  readonly effects: readonly StatementEffect[];
}

/** The error that carries the approval envelope. Errors: `meter_unreachable`. */
export async function holdCall(
  ctx: QueryContext,
  { call }: UnderstoodCall,
  { matches, effects }: HoldInput,
): Promise<AppError> {
  const now = ctx.clock.now();
  const token = newToken("appr_");
  const id = newId("apv", now);
  const expiresAt = now + APPROVAL_MS;
  const hits = matches.map(({ hit }) => hit);
  const covers = matches.flatMap(({ about }) => about);
  const pieces = await ctx.held.keep(id, writeHeldCall(call, effects, covers), expiresAt + APPROVAL_MS);
  await ctx.approvals.add({
    id,
    tokenHash: tokenHash(token),
    namespaceId: call.target.namespaceId,
    databaseId: call.target.databaseId,
    databaseSlug: call.target.databaseSlug,
    branchRef: call.target.branchRef,
    requestedBy: call.tokenId,
    state: "pending",
    hits,
    affectedRows: affectedRows(effects),
    tolerance: Math.min(...matches.map(({ rule }) => rule.tolerance)),
    ...{ createdAt: now, expiresAt, decidedAt: null, reason: null, pieces },
  });
  return new AppError("approval_required", {
    extra: {
      approvalToken: token,
      approvalUrl: `${ctx.baseUrl}/console/${call.target.namespaceSlug}/approvals/${id}`,
      hits,
      expiresAt: isoTime(expiresAt),
    },
  });
}
