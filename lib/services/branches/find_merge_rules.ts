// Approval rules that a merge has to be measured by: what it would write counts as if statements wrote it.
import { matchRules, type RuleMatch } from "../../query/match_rules.ts";
import type { BranchDiff } from "../../sql/branch_report.ts";
import { noEngineFacts, type StatementFacts } from "../../sql/statement_facts.ts";
import type { RuleRecord } from "../../store/write_records.ts";

export function findMergeRules(
  rules: readonly RuleRecord[],
  merge: { readonly mode: "schema" | "data"; readonly diff: BranchDiff },
): RuleMatch[] {
  const { actions, rows } = effect(merge.mode, merge.diff);
  const written = merge.mode === "schema" ? "schema" : "write";
  return matchRules(rules, [{ ...mergeFacts, class: written, actions }])
    .filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
}

/** As the engine names what a statement does; rows are null where the schema changes. */
function effect(mode: "schema" | "data", { schema, tables }: BranchDiff) {
  if (mode === "schema") {
    return { actions: schema.changes.map(({ name }) => `schema ${name}`), rows: null };
  }
  const actions = tables.flatMap(({ table, added, removed, changed }) => [
    ...(added > 0 ? [`insert ${table}`] : []),
    ...(changed > 0 ? [`update ${table}`] : []),
    ...(removed > 0 ? [`delete ${table}`] : []),
  ]);
  return { actions, rows: tables.reduce((sum, one) => sum + one.added + one.removed + one.changed, 0) };
}

/** Every row is named by its key, so nothing about it is unbounded. */
const mergeFacts: StatementFacts = {
  ...noEngineFacts,
  class: "write",
  verb: "update",
  role: "admin",
  refusal: null,
  target: null,
  hasWhere: true,
  destructive: true,
  parameterCount: 0,
  pragma: null,
  rename: null,
  readsLog: false,
};
