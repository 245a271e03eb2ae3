// Rules about rows that whoever may rename the table gets around: what changes the rows then names another table.
import type { RuleRecord } from "../../store/write_records.ts";

/** What is wanting about a rule. */
export interface RuleWarning {
  readonly code: "renamed_around";
  readonly message: string;
}

/** What is wanting about a rule, among all those of its database. Pure. */
export function ruleWarnings(rule: RuleRecord, rules: readonly RuleRecord[]): RuleWarning[] {
  if (!rule.enabled || rule.actions === null || rule.actions.includes("schema")) return [];
  // Whatever its name, a table is under such a rule.
  if (isForAll(rule.tableGlob) || rules.some((other) => stopsRenames(other, rule))) return [];
  return [{
    code: "renamed_around",
    message:
      `Add schema to the actions, or a rule for schema on ${rule.tableGlob}: an admin token can rename the table, ` +
      "change its rows and name it back, and this rule does not see it",
  }];
}

/** A rename changes the schema under both names, however many rows there are. */
function stopsRenames(other: RuleRecord, { tableGlob }: RuleRecord): boolean {
  return other.enabled && !other.unboundedOnly &&
    (other.actions === null || other.actions.includes("schema")) &&
    (isForAll(other.tableGlob) || other.tableGlob.toLowerCase() === tableGlob.toLowerCase());
}

function isForAll(glob: string): boolean {
  return /^\*+$/.test(glob);
}
