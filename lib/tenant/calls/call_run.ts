// What one call did, and what becomes of it, decided in the same way for every store.
import { roundMs } from "../../core/clock.ts";
import { type EngineFailure, plainFailure } from "../../engine/engine_failure.ts";
import type { StatementResult, TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { AffectedBound } from "../call_records.ts";
import type { FailedOutcome } from "../what_stays.ts";
import { runsOf } from "../../sql/words/param_sets.ts";
import { SetsBuilder, setsJson } from "./sets_result.ts";
import type { RowsBeside } from "../../sql/grammar/uncounted_rows.ts";
import type { SetsAnswer, StepFigures } from "./work.ts";

/** The statement that has failed, by its index, and why. */
export interface CallFailure {
  readonly at: number;
  readonly failure: EngineFailure;
}

/** The results and figures of the statements that ran to their end. */
export interface StatementsRun {
  readonly results: readonly StatementResult[];
  /** Milliseconds in the engine, where it tells. */
  readonly ms: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Rows changed, and rows removed beside them. */
  readonly rows: number;
  readonly failure: CallFailure | null;
}

/** The same, with what was done and does not stay. */
export interface CallRun extends StatementsRun {
  /** The failed statement ran to its end, but its result passes a bound. */
  readonly tooLarge: boolean;
  /** What the engine did, committed or not. */
  readonly work: { readonly rowsRead: number; readonly rowsWritten: number };
}

/** What the end of a call depends on. */
export interface EndingCall {
  readonly atomic: boolean;
  readonly affected?: AffectedBound | null;
  readonly statements: { readonly length: number };
  readonly paramSets?: { readonly length: number } | null;
}

/**
 * The failure with which a call ends: one that changed more or fewer rows than it may, or others than were approved, has
 * failed at its last run. What ran before an error stays where the call is not atomic: it too is bound to the
 * number of rows.
 */
export function endingFailure(
  call: EndingCall,
  { failure, rows }: Pick<CallRun, "failure" | "rows">,
  isExpected: () => boolean,
): CallFailure | null {
  const { atomic, affected } = call;
  if (failure !== null && atomic) return failure;
  const within = !affected || (rows >= affected.min && rows <= affected.max);
  if (within && isExpected()) return failure;
  return { at: runsOf(call) - 1, failure: { ...plainFailure("affected", ""), affected: rows } };
}

/** Whether the failure undoes the whole call: any failure of an atomic call or a single statement, and a wrong number of rows. */
export function isUndone(failure: CallFailure | null, call: EndingCall): boolean {
  return failure !== null && (call.atomic || runsOf(call) === 1 || failure.failure.kind === "affected");
}

/** A statement that has run: its result, or why there is none. */
export interface RanStatement {
  readonly json: string;
  readonly failure: EngineFailure | null;
  readonly tooLarge?: boolean;
  readonly figures: StepFigures;
  readonly beside: RowsBeside;
  /** Of a statement that ran with parameter sets, in place of `json`. */
  readonly sets?: SetsAnswer | undefined;
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
  #failure: CallFailure | null = null;
  #tooLarge = false;
  /** What parameter sets have done, and the rows that they have read and written. */
  readonly #sets = new SetsBuilder();
  #setsRead = 0;
  #setsWritten = 0;

  constructor(private readonly call: EndingCall & Pick<TenantCall, "bounds" | "level">) {}

  get ended(): boolean {
    return this.#failure !== null;
  }

  /** Rows and bytes that the next result may have. */
  get bounds(): TenantCall["bounds"] {
    const { rows, bytes } = this.call.bounds;
    return { rows, bytes: bytes - this.#bytes };
  }

  add({ json, failure, tooLarge = false, figures, beside, sets }: RanStatement): void {
    if (this.ended) return;
    if (failure !== null && !tooLarge) return this.fail(failure);
    const written = figures.changes + beside.written;
    this.#workWritten += written;
    this.#rowsReplaced += beside.removed;
    if (sets) this.#addSets(sets, figures.rowsRead, written);
    else if (failure !== null) {
      this.#tooLarge = tooLarge;
      this.fail(failure);
    } else {
      this.#bytes += json.length;
      this.#results.push({ json, rowsRead: figures.rowsRead, rowsWritten: written });
    }
    this.#ms += figures.ms ?? 0;
    this.#rowsRead += figures.rowsRead;
    this.#rowsWritten += written;
  }

  /** Notes a failure of the next run, which has no figures but perhaps the milliseconds after which it was stopped. */
  fail(failure: EngineFailure, stoppedMs = 0): void {
    this.#failure ??= { at: this.#results.length + this.#sets.count, failure };
    this.#ms += stoppedMs;
  }

  #addSets(
    { part, failure, tooLarge = false }: SetsAnswer,
    rowsRead: number,
    rowsWritten: number,
  ): void {
    this.#tooLarge = tooLarge;
    this.#sets.add(part);
    this.#bytes += part.rows.length;
    this.#setsRead += rowsRead;
    this.#setsWritten += rowsWritten;
    if (failure !== null) this.fail(failure);
  }

  /** The result of each statement that has run, or the one of all sets. */
  #allResults(): readonly StatementResult[] {
    if (this.#sets.count === 0) return this.#results;
    const json = setsJson(this.#sets.part, this.call.level === "read");
    return [{ json, rowsRead: this.#setsRead, rowsWritten: this.#setsWritten }];
  }

  /** Sums up what has run. `notRun`: why the next statement did not run. */
  run(notRun: EngineFailure | null): CallRun {
    if (notRun) this.fail(notRun);
    const results = this.#allResults();
    const committed = results.reduce(
      (sum, one) => ({ read: sum.read + one.rowsRead, written: sum.written + one.rowsWritten }),
      { read: 0, written: 0 },
    );
    return {
      results,
      ms: roundMs(this.#ms),
      rowsRead: committed.read,
      rowsWritten: committed.written,
      rows: this.#rowsWritten + this.#rowsReplaced,
      failure: this.#failure,
      tooLarge: this.#tooLarge,
      work: { rowsRead: this.#rowsRead, rowsWritten: this.#workWritten },
    };
  }
}

/** The run with the failure that it ends with. `expected`: it did what was approved. */
export function endedRun(run: CallRun, call: EndingCall, expected = true): CallRun {
  return { ...run, failure: endingFailure(call, run, () => expected) };
}

/** The run as it is committed. */
export function committedRun<Run extends Pick<CallRun, "results" | "rowsWritten">>(
  run: Run,
  nothingStays: boolean,
): Run {
  return nothingStays ? { ...run, results: [], rowsWritten: 0 } : run;
}

/** What a run that has succeeded tells of rows that it removed and the engine does not count; absent: none. */
export function removedPart({ rows, rowsWritten }: Pick<CallRun, "rows" | "rowsWritten">): {
  readonly rowsRemoved?: number;
} {
  return rows > rowsWritten ? { rowsRemoved: rows - rowsWritten } : {};
}

/** What the pipeline is told of a run: its results, and where and how it has failed. */
export function outcomeOf(run: CallRun): TenantOutcome {
  const { results, ms, failure, work } = run;
  const figures = { results, durationMs: ms, rowsReadBasis: "engine" } as const;
  return failure === null
    ? { ok: true, ...figures, ...removedPart(run) }
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
    durationMs: roundMs(durationMs),
    rowsReadBasis: "engine",
  };
}

export const timedOut: EngineFailure = plainFailure("timeout", "ran longer than the time limit");
export const invalidText: EngineFailure = plainFailure(
  "invalid_text",
  "the result holds text that is not valid UTF-8; read it as a blob",
);
