// Stage 3: approval rules. A write that one denies stops here, and one that needs a person's approval is held.
import type { Admission } from "../control/balance/spending_account.ts";
import { AppError } from "../core/errors.ts";
import type { RuleRecord } from "../store/write_records.ts";
import { newSalt } from "../engine/footprint/footprint.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";
import type { TenantOutcome } from "../tenant/tenant_store.ts";
import { totals } from "./answer.ts";
import { type FailedOutcome, outcomeError, tooManyError } from "./call_error.ts";
import { execute } from "./execute.ts";
import { dryForm, findFootprint, NOTHING_BESIDE } from "./find_footprint.ts";
import { affectedRows } from "./held_call.ts";
import { holdCall } from "./hold_call.ts";
import { hitsOf, matchRules, type RuleMatch } from "./match_rules.ts";
import type { QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import { reserveBalance } from "./reserve_balance.ts";
import { settle } from "./settle.ts";

/** What the engine has done with a call, or would do. */
export type EndedOutcome = FailedOutcome | Extract<TenantOutcome, { ok: true }>;

/** Rows that the call may change at most, when a rule lets it pass for changing fewer than its `minRows`. */
export interface RuleBound {
  readonly maxRows: number | null;
}

/** Rules that the call has to be measured by: of an approved one those that deny, and those it was not approved for. */
export async function findRules(ctx: QueryContext, { call, facts }: UnderstoodCall): Promise<RuleMatch[]> {
  const rules = await ctx.rules.of(call.target.databaseId) ?? [];
  return matchRules(rules, facts).filter(({ rule, about }) =>
    rule.effect === "deny" || about.some((one) => !call.approved.includes(one))
  );
}

/**
 * What the call may change where no rule stops it; null when the schema was another one by the time of the look.
 * Errors: `rule_denied` with `hits`; `approval_required` with the approval envelope, or `too_many_approvals`; those of
 * the call's dry run and of the balance.
 */
export async function applyRules(
  ctx: QueryContext,
  understood: UnderstoodCall,
  matches: readonly RuleMatch[],
): Promise<RuleBound | null> {
  if (matches.length === 0) return { maxRows: null };
  const plain = matches.filter(({ rule }) => rule.effect === "deny" && rule.minRows === null);
  // A rule that denies whatever the number of rows needs no look at them.
  if (plain.length > 0) throw denied(plain);
  const reserved = reserveBalance(ctx, understood.call, false);
  const admission = reserved instanceof Promise ? await reserved : reserved;
  try {
    return await look(ctx, understood, { matches, admission });
  } finally {
    if (admission) ctx.meter.release(admission);
  }
}

/** What stops here is paid like a failed call: the request, and what the look has read. What goes on pays when it has run. */
async function look(
  ctx: QueryContext,
  understood: UnderstoodCall,
  { matches, admission }: { readonly matches: readonly RuleMatch[]; readonly admission: Admission | null },
): Promise<RuleBound | null> {
  const { call } = understood;
  const watched = watchedForm(understood, matches);
  const outcome = await execute(ctx, dryForm(watched), NOTHING_BESIDE);
  if (outcome.ok === "stale") {
    ctx.facts.seen(call.target.databaseId, outcome.schemaVersion);
    return null;
  }
  if (outcome.ok !== true && outcome.ok !== false) throw new TypeError("a dry run is not answered as before");
  const stop = (error: AppError) => {
    settle(ctx, call, admission, outcome.ok ? totals(outcome.results) : outcome.work);
    return error;
  };
  if (!outcome.ok && failsWhole(call, outcome)) throw stop(await outcomeError(understood, outcome));
  const effects = effectsOf(outcome);
  // What a change of the schema does is not told by a number of rows.
  const rows = effects.some(({ ownRows }) => ownRows === null) ? null : affectedRows(effects);
  const hit = matches.filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
  const denying = hit.filter(({ rule }) => rule.effect === "deny");
  if (denying.length > 0) throw stop(denied(denying));
  // Nobody needs to decide about what its own caller does not want.
  const tooMany = call.maxAffected !== null && rows !== null && rows > call.maxAffected;
  if (tooMany) throw stop(tooManyError(understood, rows));
  // Nobody could redeem it: a published endpoint has no token of its own, and strangers must not fill the store.
  if (hit.length > 0 && call.operation === "endpoint") throw stop(denied(hit));
  if (hit.length > 0) {
    const footprint = await findFootprint(ctx, watched, outcome);
    throw stop(await holdCall(ctx, understood, { matches: hit, effects, footprint: footprint ?? null }));
  }
  return { maxRows: leastThreshold(matches.map(({ rule }) => rule)) };
}

/** What runs before another failure stays, and is judged; the run then ends there by itself. */
function failsWhole({ atomic }: QueryCall, { failure, failedIndex }: FailedOutcome): boolean {
  return failure.kind !== "timeout" && (atomic || failedIndex === 0);
}

/** Empty where nothing is known, as when the time is up. */
export function effectsOf(outcome: EndedOutcome): readonly StatementEffect[] {
  if (outcome.ok) return outcome.results.flatMap(({ effect }) => effect ?? []);
  return outcome.failure.kind === "timeout" ? [] : outcome.effects ?? [];
}

function denied(matches: readonly RuleMatch[]): AppError {
  return new AppError("rule_denied", { extra: { hits: hitsOf(matches) } });
}

/** What a person may have to approve is looked at so that it can be told from everything else. */
function watchedForm(understood: UnderstoodCall, matches: readonly RuleMatch[]): UnderstoodCall {
  const holding = matches.filter(({ rule }) => rule.effect === "require_approval");
  if (holding.length === 0 || understood.call.operation === "endpoint") return understood;
  const footprint = { salt: newSalt(), each: holding.some(({ rule }) => rule.tolerance > 0), expects: null };
  return { ...understood, call: { ...understood.call, footprint } };
}

/** Between the look and the run the rows may have become more: the run itself is bound by the lowest threshold. */
function leastThreshold(rules: readonly RuleRecord[]): number | null {
  const thresholds = rules.flatMap(({ minRows }) => minRows ?? []);
  return thresholds.length === 0 ? null : Math.min(...thresholds) - 1;
}
