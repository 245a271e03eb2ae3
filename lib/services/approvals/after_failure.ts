// What becomes of an approval that was claimed for a write which then did not run.
import { APPROVAL_MS } from "../../control/approvals.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { HeldCall } from "../../query/held_call.ts";
import type { HoldContext } from "../../query/hold_call.ts";
import { neverRan } from "../../query/never_ran.ts";
import { fittingHits, hitsOf, type RuleMatch } from "../../query/match_rules.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { UNDECIDED } from "./approval_context.ts";

/** What an approved write would do now. */
export interface NewLook {
  readonly affectedRows: number | null;
  /** Absent or null: not known. */
  readonly cascadedRows?: number | null;
  /** In the form of `held_call.ts`; null: what it would do is not known any better than before. */
  readonly text: string | null;
  /** Rules that hold it for what was not approved before. */
  readonly matches?: readonly RuleMatch[];
}

/**
 * Gives an approved write that would do something else now back to the person who decides, with what it would do.
 * Answers the error for whoever has redeemed it: `effect_changed` with both figures. Errors thrown:
 * `meter_unreachable`.
 */
export async function lookAgain(
  ctx: LookContext,
  record: ApprovalRecord,
  look: NewLook,
): Promise<AppError> {
  const figures = { approvedRows: record.affectedRows, affectedRows: look.affectedRows };
  await ctx.approvals.move(record, "redeemed", {
    ...UNDECIDED,
    outcome: { kind: "came_back", at: ctx.clock.now(), ...figures },
    // Without room for it, what was seen before is shown: approved as it is, the write comes back again.
    ...await newLook(ctx, record, look) ?? await newLook(ctx, record, { ...look, text: null }),
  });
  return new AppError("effect_changed", { extra: figures });
}

/** The parts of the process that another look needs. */
export type LookContext = Pick<HoldContext, "approvals" | "held" | "clock">;

/**
 * Stores what a write would do now, and says what changes in its record; null: there is no room for it. Errors:
 * `meter_unreachable`.
 */
export async function newLook(
  ctx: LookContext,
  record: ApprovalRecord,
  { affectedRows, cascadedRows = null, text, matches = [] }: NewLook,
): Promise<Partial<ApprovalRecord> | null> {
  const held = text === null ? {} : await holdText(ctx, record, text);
  if (held === null) return null;
  return {
    affectedRows,
    cascadedRows,
    look: (record.look ?? 0) + 1,
    lookedAt: ctx.clock.now(),
    ...heldBy(record, matches),
    ...held,
  };
}

/** A rule that holds it again shows what it holds it for now; these hits come first. */
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

/**
 * Under a name that nobody knows yet: somebody may be reading what was held before, and a crash leaves that whole.
 */
async function holdText(
  ctx: Pick<HoldContext, "held" | "clock">,
  { namespaceId, expiresAt }: ApprovalRecord,
  text: string,
): Promise<Pick<ApprovalRecord, "heldId" | "pieces"> | null> {
  const heldId = newId("apv", ctx.clock.now());
  const pieces = await ctx.held.keep(heldId, { namespaceId, text }, expiresAt + APPROVAL_MS);
  return pieces === null ? null : { heldId, pieces };
}

/** Rules that hold a write for what its approval does not cover. */
export function notCovered({ covers }: Pick<HeldCall, "covers">, matches: readonly RuleMatch[]): RuleMatch[] {
  return matches.filter(({ about }) => about.some((one) => !covers.includes(one)));
}

/** What the approval covers once a person has seen these rules, too. */
export function coversToo({ covers }: Pick<HeldCall, "covers">, matches: readonly RuleMatch[]): string[] {
  return [...new Set([...covers, ...matches.flatMap(({ about }) => about)])];
}

/**
 * After a failure the approval is approved as before where the call was not to blame, denied where a newer rule stops
 * it, and otherwise used up.
 */
export async function afterRefusal(
  { approvals, clock }: Pick<QueryContext, "approvals" | "clock">,
  record: ApprovalRecord,
  error: unknown,
): Promise<void> {
  if (neverRan(error)) await approvals.move(record, "redeemed", { state: "approved" });
  if (neverRan(error) || !(error instanceof AppError)) return;
  const reason = stoppedBy[error.code];
  if (reason === undefined) {
    return await approvals.noteOutcome(record, { kind: "failed", at: clock.now(), code: error.code });
  }
  const now = clock.now();
  await approvals.move(record, "redeemed", { state: "denied", reason, decidedAt: now, decidedBy: null });
}

const stoppedBy: Partial<Record<ErrorCode, string>> = {
  rule_denied: "A rule that has come since the approval denies this write",
  approval_required: "A rule holds this write for what was not approved; it waits for another approval",
};
