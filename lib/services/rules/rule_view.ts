// An approval rule as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { RuleRecord } from "../../store/write_records.ts";

export interface RuleView extends Omit<RuleRecord, "databaseId" | "createdAt"> {
  readonly createdAt: string;
}

export function ruleView({ databaseId: _, createdAt, ...rule }: RuleRecord): RuleView {
  return { ...rule, createdAt: isoTime(createdAt) };
}
