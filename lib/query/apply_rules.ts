// Stage 3: approval rules. A write that one denies stops here, and one that needs a person's approval is held.
import { AppError } from "../core/errors.ts";
import type { RuleRecord } from "../store/write_records.ts";
import type { StatementEffect } from "../tenant/tenant_store.ts";
import { outcomeError } from "./call_error.ts";
import { execute } from "./execute.ts";
import { affectedRows } from "./held_call.ts";
import { holdCall } from "./hold_call.ts";
import { matchRules, type RuleMatch } from "./match_rules.ts";
import type { QueryContext, UnderstoodCall } from "./query_call.ts";

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
 * Errors: `rule_denied` with `hits`; `approval_required` with the approval envelope; those of the call's dry run.
 */
export async function applyRules(
  ctx: QueryContext,
  understood: UnderstoodCall,
  matches: readonly RuleMatch[],
): Promise<RuleBound | null> {
  if (matches.length === 0) return { maxRows: null };
  denyPlain(matches);
  const effects = await dryRun(ctx, understood);
  if (effects === null) return null;
  // What a change of the schema does is not told by a number of rows.
  const rows = effects.some(({ ownRows }) => ownRows === null) ? null : affectedRows(effects);
  const hit = matches.filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
  if (hit.some(({ rule }) => rule.effect === "deny")) throw denied(hit);
  // Nobody could redeem it: a published endpoint has no token of its own, and strangers must not fill the store.
  if (hit.length > 0 && understood.call.operation === "endpoint") throw new AppError("approval_required");
  if (hit.length > 0) throw await holdCall(ctx, understood, { matches: hit, effects });
  return { maxRows: leastThreshold(matches.map(({ rule }) => rule)) };
}

/** A rule that denies whatever the number of rows needs no look at them. */
function denyPlain(matches: readonly RuleMatch[]): void {
  if (matches.some(({ rule }) => rule.effect === "deny" && rule.minRows === null)) throw denied(matches);
}

function denied(matches: readonly RuleMatch[]): AppError {
  const hits = matches.map(({ hit }) => hit).filter((hit) => hit.effect === "deny");
  return new AppError("rule_denied", { extra: { hits } });
}

/**
 * What the call would do now; an error that it would raise is raised. Where the time is up nothing is known; null when
 * the schema has changed. It leaves no log row: the call's own, whose id it would have, says what became of it.
 */
async function dryRun(
  ctx: QueryContext,
  understood: UnderstoodCall,
): Promise<readonly StatementEffect[] | null> {
  const call = { ...understood.call, operation: "service", dryRun: true, replay: null } as const;
  const outcome = await execute(ctx, { ...understood, call }, {
    failsWith: null,
    replay: null,
    snapshot: null,
  });
  if (outcome.ok === true) return outcome.results.flatMap(({ effect }) => effect ?? []);
  if (outcome.ok === "stale") {
    ctx.facts.seen(understood.call.target.databaseId, outcome.schemaVersion);
    return null;
  }
  if (outcome.ok === false && outcome.failure.kind !== "timeout") {
    throw await outcomeError(understood, outcome);
  }
  return [];
}

/** Between the look and the run the rows may have become more: the run itself is bound by the lowest threshold. */
function leastThreshold(rules: readonly RuleRecord[]): number | null {
  const thresholds = rules.flatMap(({ minRows }) => minRows ?? []);
  return thresholds.length === 0 ? null : Math.min(...thresholds) - 1;
}
