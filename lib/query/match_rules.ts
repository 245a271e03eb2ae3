// Which rules a write matches, by what the engine says that it writes. Pure: rows are looked at elsewhere.
import { matchesGlob } from "./matches_glob.ts";
import type { StatementFacts } from "../sql/statement_facts.ts";
import type { RuleAction, RuleHit, RuleRecord } from "../store/write_records.ts";

/** A rule and the first thing of the call that it is about. */
export interface RuleMatch {
  readonly rule: RuleRecord;
  readonly hit: RuleHit;
  /** Everything of the call that it is about: what an approval is good for. */
  readonly about: readonly string[];
}

/** Enabled rules that match, whatever the number of rows; one match a rule. */
export function matchRules(rules: readonly RuleRecord[], facts: readonly StatementFacts[]): RuleMatch[] {
  const matches: RuleMatch[] = [];
  for (const rule of rules) {
    if (!rule.enabled) continue;
    const found = facts.flatMap((one) => matching(rule, one));
    const [first] = found;
    if (!first) continue;
    const { id, tableGlob, effect, note } = rule;
    matches.push({
      rule,
      hit: { ruleId: id, tableGlob, effect, ...first, note },
      about: [...new Set(found.map(({ table, action }) => `${id} ${action} ${table}`))],
    });
  }
  return matches;
}

function matching(rule: RuleRecord, facts: StatementFacts): { table: string; action: RuleAction }[] {
  if (facts.class !== "write" && facts.class !== "schema") return [];
  const bounded = facts.hasWhere && facts.constantWhere !== true;
  if (rule.unboundedOnly && (bounded || facts.verb === "insert")) return [];
  return facts.actions.map(readAction).filter(({ table, action }) =>
    matchesGlob(rule.tableGlob, table) && (rule.actions === null || rule.actions.includes(action))
  );
}

function readAction(text: string): { table: string; action: RuleAction } {
  const space = text.indexOf(" ");
  const word = text.slice(0, space);
  const action = word === "insert" || word === "update" || word === "delete" ? word : "schema";
  return { table: text.slice(space + 1), action };
}
