// Reads off the steps of a batch what a call did.
import { ResultTooLarge } from "../../../engine/result_json.ts";
import { type CallRun, CallRunner, endedRun } from "../../calls/call_run.ts";
import { nothingBeside, rowsBeside } from "../../calls/counted_rows.ts";
import type { SetsCollector } from "./answer_sets.ts";
import type { TenantCall } from "../../tenant_store.ts";
import type { CallGate } from "../gate/gate_compiler.ts";
import type { StepResult, StepRows } from "../hrana/hrana.ts";
import { integerOf, ownRows, resultJson } from "../hrana/remote_values.ts";
import { stepFailure, tooLarge } from "../hrana/step_failure.ts";

/** The answers of steps around a statement. */
export interface StepsAround {
  /** The count of changes before the statement; absent: the count after the statement before. */
  readonly base?: StepResult;
  readonly counts?: readonly [before: StepResult, behind: StepResult];
  /** The count of changes after what the service itself did after the statement. */
  readonly then?: StepResult;
}

export class StepReader {
  readonly runner: CallRunner;

  /** `total`: changes of the connection before the first statement. */
  constructor(private readonly call: TenantCall, private total: number) {
    this.runner = new CallRunner(call);
  }

  /** Takes the answers of the statement `at` and of the count of changes after it. */
  add(at: number, step: StepResult, totalStep: StepResult, around: StepsAround = {}): void {
    if (this.runner.ended || step === null) return;
    const { base, counts = [null, null], then } = around;
    if (base?.ok) this.total = integerOf(base.rows[0]?.[0]);
    const total = totalStep?.ok ? integerOf(totalStep.rows[0]?.[0]) : this.total;
    const changes = total - this.total;
    this.total = then?.ok ? integerOf(then.rows[0]?.[0]) : total;
    const statement = this.call.statements[at];
    const [before, behind] = counts.map((one) => one?.ok ? one.rows[0]?.map(integerOf) : undefined);
    const beside = rowsBeside(statement ?? {}, [before, behind], { changes });
    const figures = { rowsRead: 0, ms: null, changes, ownRows: 0 };
    if (!step.ok) {
      return this.runner.add({ json: "", failure: stepFailure(step, statement?.sql), figures, beside });
    }
    const read = { ...figures, rowsRead: step.rowsRead, ms: step.ms };
    this.runner.add({
      ...this.#resultOf(statement ? ownRows(step, statement) : step),
      figures: read,
      beside,
    });
  }

  /** Takes what parameter sets have done. */
  addSets({ sets: { part }, failure, rowsRead, ms }: SetsCollector): void {
    const figures = { rowsRead, ms, changes: 0, ownRows: 0 };
    this.runner.add({ json: "", failure: null, figures, beside: nothingBeside, sets: { part, failure } });
  }

  /** How the call ends. `failure`: why the next statement was not sent. */
  finish({ failure }: CallGate): CallRun {
    return endedRun(this.runner.run(failure), this.call);
  }

  #resultOf(step: StepRows) {
    try {
      const json = resultJson(step, this.runner.bounds, this.call.rowForm);
      return { json, failure: null };
    } catch (error) {
      if (!(error instanceof ResultTooLarge)) throw error;
      return { json: "", failure: tooLarge(error), tooLarge: true };
    }
  }
}
