// A batch under construction.
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import {
  all,
  type HranaCondition,
  type HranaStep,
  type HranaValue,
  ifOk,
  inTransaction,
  not,
} from "./hrana.ts";
import { hranaValue } from "./remote_values.ts";

/** Steps under construction; a step is named by its index. */
export class StepList {
  readonly steps: HranaStep[] = [];

  add(sql: string, condition: HranaCondition | null = null, args: readonly HranaValue[] = []): number {
    this.steps.push({ stmt: args.length > 0 ? { sql, args } : { sql }, ...(condition ? { condition } : {}) });
    return this.steps.length - 1;
  }
}

/** Adds a step that runs only behind the success of the one before. */
export function chain(list: StepList, sql: string, params: readonly SqlParameter[] = []): void {
  const last = list.steps.length - 1;
  list.add(sql, last < 0 ? null : ifOk(last), params.map(hranaValue));
}

/** A transaction in one batch. `commit`: the step that has succeeded where all of it is committed; otherwise nothing is. */
export interface WholeTransaction {
  readonly steps: readonly HranaStep[];
  readonly commit: number;
}

/** Makes one of the steps that `fill` adds, each on condition of the one before. */
export function ownTransaction(fill: (list: StepList) => void): WholeTransaction {
  const list = new StepList();
  list.add("BEGIN IMMEDIATE");
  fill(list);
  const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
  list.add("ROLLBACK", all(not(ifOk(commit)), inTransaction));
  return { steps: list.steps, commit };
}
