// Approval rules that a merge has to be measured by: what it does to the trunk counts as if statements did it.
import { AppError } from "../../core/errors.ts";
import { hitsOf, matchRules, type RuleMatch } from "../../query/match_rules.ts";
import type { MergeReport } from "../../sql/service/branch_report.ts";
import { noEngineFacts, type StatementFacts } from "../../sql/grammar/statement_facts.ts";
import type { RuleRecord } from "../../store/write_records.ts";

/** `report`: of a dry run. */
export function findMergeRules(
  rules: readonly RuleRecord[],
  { mode, report }: { readonly mode: "schema" | "data"; readonly report: MergeReport },
): RuleMatch[] {
  const actions = report.writes.map(({ action, table }) => `${action} ${table}`);
  const matches = matchRules(rules, [{ ...mergeFacts[mode], actions }]);
  // What a change of the schema does is not told by a number of rows.
  if (mode === "schema") return matches;
  return matches.filter(({ rule }) => rule.minRows === null || report.rowsWritten >= rule.minRows);
}

/** `rule_denied` by those that deny, or null. */
export function deniedBy(matches: readonly RuleMatch[]): AppError | null {
  const hits = hitsOf(matches.filter(({ rule }) => rule.effect === "deny"));
  return hits.length === 0 ? null : new AppError("rule_denied", { extra: { hits } });
}

const facts: Omit<StatementFacts, "class" | "hasWhere"> = {
  ...noEngineFacts,
  verb: "other",
  role: "admin",
  refusal: null,
  target: null,
  destructive: true,
  commands: null,
  emptied: [],
  parameterCount: 0,
  pragma: null,
  rename: null,
  schemaRows: null,
  readsLog: false,
};

/** Of rows that are written without a statement. */
export const writeFacts: StatementFacts = { ...facts, class: "write", hasWhere: true };

/** Rows are named by their keys, so that nothing about them is unbounded. */
const mergeFacts: Readonly<Record<"schema" | "data", StatementFacts>> = {
  schema: { ...facts, class: "schema", hasWhere: false },
  data: writeFacts,
};
