// Stages "rules" and "decide": approval rules. A write that one denies stops here, and one that needs a person's approval is
// held.
import { AppError } from "../core/errors.ts";
import type { RuleRecord } from "../store/write_records.ts";
import { outcomeError, tooManyError } from "./call_error.ts";
import { affectedRows } from "./held_call.ts";
import { holdCall } from "./hold_call.ts";
import { hitsOf, matchRules, type RuleMatch } from "./match_rules.ts";
import type { Soon } from "./pipeline.ts";
import { effectsOf, findFootprint, type Preview } from "./preview.ts";
import type { QueryCall, QueryContext, UnderstoodCall } from "./query_call.ts";
import type { EndedOutcome, FailedOutcome } from "./store_call.ts";

const NO_RULES: readonly RuleMatch[] = [];

/** The rules that the call is about: of an approved one those that deny, and those it was not approved for. */
export function findRules(ctx: QueryContext, understood: UnderstoodCall): Soon<readonly RuleMatch[]> {
  const { call, canRun, writes } = understood;
  // What can only fail does not wait for a person.
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

/** A rule that denies whatever the number of rows needs no preview. Errors: `rule_denied` with `hits`. */
export function denyOutright(matches: readonly RuleMatch[]): void {
  const plain = matches.filter(({ rule }) => rule.effect === "deny" && rule.minRows === null);
  if (plain.length > 0) throw denied(plain);
}

/** What rules say of a call whose effect is known. */
export type Verdict =
  /** `maxRows`: rows that it may change at most, where it passes for changing fewer than a rule's `minRows`. */
  | { readonly passes: true; readonly maxRows: number | null }
  | { readonly passes: false; readonly error: AppError };

/** A call that rules are about, and its preview. */
export interface Previewed {
  readonly matches: readonly RuleMatch[];
  readonly preview: Preview;
}

/**
 * Decides by what the call would do. The error of one that does not pass: that of its preview, `rule_denied` with `hits`,
 * `too_many_affected`, `approval_required` with the approval envelope, or `too_many_approvals`. Errors thrown:
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
  // What a change of the schema does is not told by a number of rows.
  const rows = effects.some(({ ownRows }) => ownRows === null) ? null : affectedRows(effects);
  const hit = matches.filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
  const denying = hit.filter(({ rule }) => rule.effect === "deny");
  if (denying.length > 0) return stopped(denied(denying));
  // Nobody needs to decide about what its own caller does not want.
  const tooMany = call.maxAffected !== null && rows !== null && rows > call.maxAffected;
  if (tooMany) return stopped(tooManyError(understood, rows));
  if (hit.length === 0) return { passes: true, maxRows: leastThreshold(matches.map(({ rule }) => rule)) };
  // Nobody could redeem it: a published endpoint has no token of its own, and strangers must not fill the store.
  if (call.operation === "endpoint") return stopped(denied(hit));
  const footprint = await findFootprint(ctx, preview) ?? null;
  return stopped(await holdCall(ctx, understood, { matches: hit, effects, footprint }));
}

function stopped(error: AppError): Verdict {
  return { passes: false, error };
}

/** The error of a call of which nothing would stay. What runs before another failure stays, and rules are asked about it. */
async function wholeFailure(understood: UnderstoodCall, outcome: EndedOutcome): Promise<AppError | null> {
  if (outcome.ok || !failsWhole(understood.call, outcome)) return null;
  return await outcomeError(understood, outcome);
}

function failsWhole({ atomic }: QueryCall, { failure, failedIndex }: FailedOutcome): boolean {
  return failure.kind !== "timeout" && (atomic || failedIndex === 0);
}

function denied(matches: readonly RuleMatch[]): AppError {
  return new AppError("rule_denied", { extra: { hits: hitsOf(matches) } });
}

/** Between the preview and the run the rows may have become more: the run itself is bound by the lowest threshold. */
function leastThreshold(rules: readonly RuleRecord[]): number | null {
  const thresholds = rules.flatMap(({ minRows }) => minRows ?? []);
  return thresholds.length === 0 ? null : Math.min(...thresholds) - 1;
}
