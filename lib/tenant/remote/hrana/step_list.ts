// A batch under construction.
import { type HranaCondition, type HranaStep, type HranaValue, ifOk } from "./hrana.ts";
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
export function chain(list: StepList, sql: string, params: readonly (string | number | null)[] = []): void {
  const last = list.steps.length - 1;
  list.add(sql, last < 0 ? null : ifOk(last), params.map(hranaValue));
}
