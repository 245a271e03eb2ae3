// What rules would do with a write that was only previewed.
import { hitBy, rowsChanged } from "../../query/apply_rules.ts";
import { classify } from "../../query/classify.ts";
import { hitsOf, matchRules } from "../../query/match_rules.ts";
import type { QueryCall, QueryContext } from "../../query/query_call.ts";
import type { StatementEffect } from "../../engine/statement_effect.ts";
import type { RuleHit } from "../../store/write_records.ts";

/** What stops a statement when it runs; empty where nothing does. */
export interface ForeseenRule {
  readonly rule?: "deny" | "require_approval";
  readonly hits?: readonly RuleHit[];
}

/** One for each statement of the call; the rows of all of them count. Errors: those of the engine. */
export async function foreseeRules(
  ctx: QueryContext,
  call: QueryCall,
  effects: readonly StatementEffect[],
): Promise<readonly ForeseenRule[]> {
  const { databaseId } = call.target;
  const rules = await ctx.rules.of(databaseId) ?? [];
  if (rules.length === 0) return [];
  const { facts } = await classify(
    ctx,
    databaseId,
    ctx.tenants.open(call.target),
    call.statements,
  );
  const rows = rowsChanged(effects);
  return facts.map((one) => {
    const hit = hitBy(rows, matchRules(rules, [one]));
    if (hit.length === 0) return {};
    const denied = hit.filter(({ rule }) => rule.effect === "deny");
    return denied.length > 0
      ? { rule: "deny", hits: hitsOf(denied) }
      : { rule: "require_approval", hits: hitsOf(hit) };
  });
}
