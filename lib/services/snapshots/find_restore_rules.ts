// Approval rules that a restore in place is about: what it does to tables counts as if statements did it.
import { deniedBy, writeFacts } from "../branches/find_merge_rules.ts";
import { matchRules, type RuleMatch } from "../../query/match_rules.ts";
import type { RestoreEffect } from "../../sql/branch_report.ts";
import type { RuleRecord } from "../../store/write_records.ts";

/**
 * The rules that hold a restore for a person. `effect` null: what it would do is not known, so that it may do anything to
 * every table. Errors: `rule_denied`.
 */
export function findRestoreRules(rules: readonly RuleRecord[], effect: RestoreEffect | null): RuleMatch[] {
  const enabled = rules.filter((rule) => rule.enabled);
  const matches = effect === null ? enabled.map(matchUnseen) : matchRestore(enabled, effect);
  const denied = deniedBy(matches);
  if (denied) throw denied;
  return matches;
}

/** All rows of a table are replaced, whichever they are: nothing bounds that. */
function matchRestore(rules: readonly RuleRecord[], { writes, rows }: RestoreEffect): RuleMatch[] {
  const actions = writes.map(({ action, table }) => `${action} ${table}`);
  const emptied = writes.map(({ table }) => table);
  const matches = matchRules(rules, [{ ...writeFacts, hasWhere: false, actions, emptied }]);
  return matches.filter(({ rule, about }) =>
    rule.minRows === null || rows >= rule.minRows ||
    // What a change of the schema does is not told by a number of rows.
    about.some((one) => one.startsWith(`${rule.id} schema `))
  );
}

function matchUnseen(rule: RuleRecord): RuleMatch {
  const { id, tableGlob, effect, note, actions } = rule;
  const action = actions?.[0] ?? "schema";
  const hit = { ruleId: id, tableGlob, effect, table: tableGlob, action, note };
  return { rule, hits: [hit], about: [`${id} unseen`] };
}
