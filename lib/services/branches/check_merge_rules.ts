// Approval rules before a merge. A merge is no statement that could be held for a person, so a rule that would hold one of
// its writes stops it as one that denies does.
import { AppError } from "../../core/errors.ts";
import { matchRules } from "../../query/match_rules.ts";
import type { BranchDiff } from "../../sql/branch_report.ts";
import { noEngineFacts, type StatementFacts } from "../../sql/statement_facts.ts";
import type { RuleRecord } from "../../store/write_records.ts";

/** Errors: `rule_denied` with `hits`. */
export function checkMergeRules(
  rules: readonly RuleRecord[],
  merge: { readonly mode: "schema" | "data"; readonly diff: BranchDiff },
): void {
  const { actions, rows } = effect(merge.mode, merge.diff);
  const matches = matchRules(rules, [{
    ...mergeFacts,
    class: merge.mode === "schema" ? "schema" : "write",
    actions,
  }])
    .filter(({ rule }) => rows === null || rule.minRows === null || rows >= rule.minRows);
  if (matches.length === 0) return;
  throw new AppError("rule_denied", {
    message: "Write what this rule is about by statements of its own; a merge cannot wait for an approval",
    extra: { hits: matches.map(({ hit }) => hit) },
  });
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
  readsLog: false,
};
