// Gives an approved write whose effect is another one by now back to the person who decides, with what it would do now.
import { APPROVAL_MS } from "../../control/approvals.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { HoldContext } from "../../query/hold_call.ts";
import { fittingHits, hitsOf, type RuleMatch } from "../../query/match_rules.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";

export interface NewLook {
  readonly affectedRows: number | null;
  /** In the form of `held_call.ts`; null: what it would do is not known any better than before. */
  readonly text: string | null;
  /** Rules that hold it for what was not approved before. */
  readonly matches?: readonly RuleMatch[];
}

/** The error for who has redeemed it: `effect_changed` with both figures. Errors: `meter_unreachable`. */
export async function lookAgain(
  ctx: Pick<HoldContext, "approvals" | "held" | "clock">,
  record: ApprovalRecord,
  { affectedRows, text, matches = [] }: NewLook,
): Promise<AppError> {
  const kept = text === null ? {} : await keepText(ctx, record, text);
  await ctx.approvals.move(record, "redeemed", {
    ...{ state: "pending", decidedAt: null, reason: null, affectedRows, look: (record.look ?? 0) + 1 },
    ...heldBy(record, matches),
    ...kept,
  });
  return new AppError("effect_changed", { extra: { approvedRows: record.affectedRows, affectedRows } });
}

/** Of a rule that holds it anew, what it holds it for now: that comes first. */
function heldBy(
  { hits, tolerance }: ApprovalRecord,
  matches: readonly RuleMatch[],
): Pick<ApprovalRecord, "hits" | "tolerance"> {
  const others = hits.filter(({ ruleId }) => matches.every(({ rule }) => rule.id !== ruleId));
  return {
    hits: fittingHits([...hitsOf(matches), ...others]),
    tolerance: Math.min(tolerance, ...matches.map(({ rule }) => rule.tolerance)),
  };
}

/** Under a name that nobody knows yet: somebody may be reading what was held before, and a crash leaves that whole. */
async function keepText(
  ctx: Pick<HoldContext, "held" | "clock">,
  { expiresAt }: ApprovalRecord,
  text: string,
): Promise<Pick<ApprovalRecord, "heldId" | "pieces">> {
  const heldId = newId("apv", ctx.clock.now());
  return { heldId, pieces: await ctx.held.keep(heldId, text, expiresAt + APPROVAL_MS) };
}
