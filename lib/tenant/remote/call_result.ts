// What one call did, read off the steps of a batch, and the outcome that it amounts to.
import { ResultTooLarge } from "../../engine/result_json.ts";
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import type { StatementResult, TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { FailedOutcome } from "../what_stays.ts";
import { rowsBeside } from "./count_rows.ts";
import type { StepResult } from "./hrana/hrana.ts";
import { integerOf, resultJson } from "./hrana/remote_values.ts";
import { stepFailure, tooLarge } from "./hrana/step_failure.ts";
import type { CallGate } from "./gate/schema_gate.ts";

export interface CallRun {
  readonly results: readonly StatementResult[];
  readonly ms: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly failure: { readonly at: number; readonly failure: EngineFailure } | null;
  /** The failure is a bound that was passed after the statement had run. */
  readonly tooLarge: boolean;
  /** What the engine did, kept or not. */
  readonly work: { readonly rowsRead: number; readonly rowsWritten: number };
}

/** Steps beside a statement's own. */
export interface StepsAround {
  readonly base?: StepResult;
  readonly counts?: readonly [before: StepResult, behind: StepResult];
  /** The count of changes behind what the service itself did after it. */
  readonly then?: StepResult;
  /** Changes that the service has made by triggers of its own. */
  readonly notes?: number;
  /** What the statement reads without them. */
  readonly ownReads?: number;
}

/** Collects a call's statements in order, up to the first failure. */
export class CallRunner {
  readonly #results: StatementResult[] = [];
  #ms = 0;
  #rowsRead = 0;
  #rowsWritten = 0;
  #workWritten = 0;
  #rowsReplaced = 0;
  #bytes = 0;
  #failure: CallRun["failure"] = null;
  #tooLarge = false;

  /** `total`: changes of the connection before the first statement. */
  constructor(private readonly call: TenantCall, private total: number) {}

  get ended(): boolean {
    return this.#failure !== null;
  }

  /**
   * Takes a statement's step and the count of changes behind it; where it ran again, the one before it (`base`); the
   * counts of rows that the engine does not count.
   */
  add(step: StepResult, totalStep: StepResult, around: StepsAround = {}): void {
    if (this.#failure !== null || step === null) return;
    const { base, counts, then, notes = 0 } = around;
    if (base?.ok) this.total = integerOf(base.rows[0]?.[0]);
    const total = totalStep?.ok ? integerOf(totalStep.rows[0]?.[0]) : this.total;
    const changes = total - this.total - notes;
    this.total = then?.ok ? integerOf(then.rows[0]?.[0]) : total;
    const statement = this.call.statements[this.#results.length];
    const beside = rowsBeside(statement ?? {}, counts ?? [null, null], changes);
    const written = changes + beside.written;
    this.#workWritten += written;
    this.#rowsReplaced += beside.removed;
    if (!step.ok) return this.fail(stepFailure(step, statement?.sql));
    const { bounds, integersAsStrings } = this.call;
    const { ownReads: rowsRead = step.rowsRead } = around;
    try {
      const json = resultJson(step, { ...bounds, bytes: bounds.bytes - this.#bytes }, integersAsStrings);
      this.#bytes += json.length;
      this.#results.push({ json, rowsRead, rowsWritten: written });
    } catch (error) {
      if (!(error instanceof ResultTooLarge)) throw error;
      this.#tooLarge = true;
      this.fail(tooLarge(error));
    }
    this.#ms += step.ms;
    this.#rowsRead += rowsRead;
    this.#rowsWritten += written;
  }

  fail(failure: EngineFailure): void {
    this.#failure ??= { at: this.#results.length, failure };
  }

  /** `gate`: what was not sent fails behind what was. `expected`: it did what was approved. */
  finish(gate: CallGate, expected = true): CallRun {
    if (gate.failure) this.fail(gate.failure);
    const { affected, statements } = this.call;
    const rows = this.#rowsWritten + this.#rowsReplaced;
    // What ran before an error stays where the call is not atomic: it too is bound to the number of rows.
    const mayStay = this.#failure === null || !this.call.atomic;
    if (mayStay && ((affected && !within(rows, affected)) || !expected)) {
      const failure = { ...plainFailure("affected", ""), affected: rows };
      this.#failure = { at: statements.length - 1, failure };
    }
    const kept = this.#results.reduce(
      (sum, one) => ({ read: sum.read + one.rowsRead, written: sum.written + one.rowsWritten }),
      { read: 0, written: 0 },
    );
    return {
      results: this.#results,
      ms: Math.round(this.#ms * 1000) / 1000,
      rowsRead: kept.read,
      rowsWritten: kept.written,
      failure: this.#failure,
      tooLarge: this.#tooLarge,
      work: { rowsRead: this.#rowsRead, rowsWritten: this.#workWritten },
    };
  }
}

function within(rows: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return rows >= min && rows <= max;
}

/** An atomic call is undone whole by any failure, as is one statement, and every call by the wrong number of rows. */
export function isUndone({ failure }: CallRun, { atomic, statements }: TenantCall): boolean {
  return failure !== null && (atomic || statements.length === 1 || failure.failure.kind === "affected");
}

/** The run as it stays. */
export function keptRun(run: CallRun, nothingKept: boolean): CallRun {
  return nothingKept ? { ...run, results: [], rowsWritten: 0 } : run;
}

export function outcomeOf({ results, ms, failure, work }: CallRun): TenantOutcome {
  const figures = { results, durationMs: ms, rowsReadBasis: "engine" } as const;
  return failure === null
    ? { ok: true, ...figures }
    : { ok: false, ...figures, failedIndex: failure.at, failure: failure.failure, work };
}

/** The outcome of a call that was stopped, or that left nothing behind for another reason. */
export function failedOutcome(failure: EngineFailure, at: number, durationMs: number): FailedOutcome {
  return {
    ok: false,
    results: [],
    failedIndex: at,
    failure,
    work: { rowsRead: 0, rowsWritten: 0 },
    durationMs: Math.round(durationMs * 1000) / 1000,
    rowsReadBasis: "engine",
  };
}

export const timedOut: EngineFailure = plainFailure("timeout", "ran longer than the time limit");
export const invalidText: EngineFailure = plainFailure(
  "invalid_text",
  "the result holds text that is not valid UTF-8; read it as a blob",
);
