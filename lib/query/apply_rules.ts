// Stages "rules" and "decide": a write that a rule denies stops here, and a write that needs a person's approval is
// held.
import { AppError } from "../core/errors.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";
import { outcomeError, tooManyError } from "./call_error.ts";
import { affectedRows } from "./held_call.ts";
import { holdCall } from "./hold_call.ts";
import { hitsOf, matchRules, type RuleMatch } from "./match_rules.ts";
import type { Soon } from "./pipeline.ts";
import { effectsOf, findFootprint, type Preview } from "./preview.ts";
import type { QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { type EndedOutcome, workOf } from "./store_call.ts";
import type { FailedOutcome } from "../tenant/what_stays.ts";

const NO_RULES: readonly RuleMatch[] = [];

/**
 * Finds the rules that the call matches. For an approved call: rules that deny, and rules for which it was not
 * approved.
 */
export function findRules(ctx: QueryContext, understood: UnderstoodCall): Soon<readonly RuleMatch[]> {
  const { call, canRun, writes } = understood;
  // A call that can only fail waits for nobody.
  return call.dryRun || !canRun || !writes ? NO_RULES : matchingRules(ctx, understood);
}

async function matchingRules(
  ctx: QueryContext,
  { call, facts }: UnderstoodCall,
): Promise<readonly RuleMatch[]> {
  const rules = await ctx.rules.of(call.target.databaseId) ?? [];
  return matchRules(rules, facts).filter(({ rule, about }) =>
    rule.effect === "deny" || about.some((one) => !call.approved.includes(one))
  );
}

/**
 * A rule that denies whatever the number of rows needs no preview, and neither does one that would hold what nobody can
 * approve. Errors: `rule_denied` and `transaction_held` with `hits`.
 */
export function stopOutright({ inTransaction = false }: QueryCall, matches: readonly RuleMatch[]): void {
  const plain = matches.filter(({ rule }) => rule.minRows === null);
  const denying = plain.filter(({ rule }) => rule.effect === "deny");
  if (denying.length > 0) throw denied(denying);
  if (inTransaction && plain.length > 0) throw heldInside(plain);
}

/** The decision about a call whose effect is known. */
export type Verdict =
  /**
   * `maxRows`: the most rows that the call may change, where it passes because it changes fewer than a rule's
   * `minRows`.
   */
  | { readonly passes: true; readonly maxRows: number | null }
  | { readonly passes: false; readonly error: AppError };

/** A call that matches rules, and its preview. */
export interface Previewed {
  readonly matches: readonly RuleMatch[];
  readonly preview: Preview;
}

/**
 * Decides by the effect of the call. The error of a call that does not pass: that of its preview, `rule_denied` with
 * `hits`, `too_many_affected`, `approval_required` with the approval envelope, or `too_many_approvals`. Errors thrown:
 * `meter_unreachable`.
 */
export async function applyRules(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { matches, preview }: Previewed,
): Promise<Verdict> {
  const { call } = understood;
  const { outcome } = preview;
  const failure = await wholeFailure(understood, outcome);
  if (failure) return stopped(failure);
  const effects = effectsOf(outcome);
  const rows = rowsChanged(effects);
  const { rowsBefore = 0 } = call;
  // What changes nothing is not to blame for what was changed before it.
  const hit = hitBy(rows ? rows + rowsBefore : rows, matches);
  const denying = hit.filter(({ rule }) => rule.effect === "deny");
  if (denying.length > 0) return stopped(denied(denying));
  // A call that breaks its caller's own bound on rows needs no decision.
  const tooMany = call.maxAffected !== null && rows !== null && rows > call.maxAffected;
  if (tooMany) return stopped(tooManyError(understood, rows));
  if (hit.length === 0) return { passes: true, maxRows: rowsBelow(matches, rowsBefore) };
  // A call of a published endpoint has no token, so nobody could redeem its approval, and strangers must not fill the
  // store.
  if (call.operation === "endpoint") return stopped(denied(hit));
  if (call.inTransaction || call.heldAs === "never") return stopped(heldInside(hit));
  const footprint = await findFootprint(ctx, preview) ?? null;
  const { rowsRead } = workOf(outcome);
  return stopped(await holdCall(ctx, understood, { matches: hit, effects, footprint, rowsRead }));
}

/** The rows that a call changes; null where a number does not describe it, as of a change of the schema. */
export function rowsChanged(effects: readonly StatementEffect[]): number | null {
  return effects.some(({ ownRows }) => ownRows === null) ? null : affectedRows(effects);
}

/** The rules that stop a call which changes so many rows. */
export function hitBy(rows: number | null, matches: readonly RuleMatch[]): RuleMatch[] {
  return matches.filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
}

function stopped(error: AppError): Verdict {
  return { passes: false, error };
}

/**
 * The error of a call of which nothing would stay; null where statements before the failure stay, which rules decide
 * about.
 */
async function wholeFailure(understood: UnderstoodCall, outcome: EndedOutcome): Promise<AppError | null> {
  if (outcome.ok || !failsWhole(understood.call, outcome)) return null;
  return await outcomeError(understood, { outcome, snapshot: null });
}

function failsWhole({ atomic }: QueryCall, { failure, failedIndex }: FailedOutcome): boolean {
  return failure.kind !== "timeout" && (atomic || failedIndex === 0);
}

function heldInside(matches: readonly RuleMatch[]): AppError {
  return new AppError("transaction_held", { extra: { hits: hitsOf(matches) } });
}

function denied(matches: readonly RuleMatch[]): AppError {
  return new AppError("rule_denied", { extra: { hits: hitsOf(matches) } });
}

/** The rows below the lowest threshold bound the run itself: rows may be added between the preview and the run. */
function rowsBelow(matches: readonly RuleMatch[], rowsBefore: number): number | null {
  const thresholds = matches.flatMap(({ rule: { minRows } }) => minRows ?? []);
  return thresholds.length === 0 ? null : Math.max(0, Math.min(...thresholds) - 1 - rowsBefore);
}
