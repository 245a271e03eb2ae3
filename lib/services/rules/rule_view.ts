// An approval rule as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import { type RuleWarning, ruleWarnings } from "./rename_warnings.ts";

export interface RuleView extends Omit<RuleRecord, "databaseId" | "createdAt"> {
  readonly createdAt: string;
  readonly warnings: readonly RuleWarning[];
}

/** `rules`: all those of its database. */
export function ruleView(record: RuleRecord, rules: readonly RuleRecord[]): RuleView {
  const { databaseId: _, createdAt, ...rule } = record;
  return { ...rule, createdAt: isoTime(createdAt), warnings: ruleWarnings(record, rules) };
}
