// Runs the steps of a batch: as one call where it is one transaction, else in groups, each on its condition.
import { AppError, invalidInput } from "../../core/errors.ts";
import type { DoorStatement } from "./door_statement.ts";
import type { DoorContext, DoorOptions, WireCondition } from "./hrana_types.ts";
import { type DoorStep, stepGroup, type WholeTransaction, wholeTransaction } from "./plan_batch.ts";
import { NOTHING } from "./result_text.ts";
import { type CallOutcome, runCall } from "./run_calls.ts";
import type { HranaStream } from "./stream.ts";

/** What a request of a stream is run with. */
export interface RunningRequest {
  readonly ctx: DoorContext;
  readonly options: DoorOptions;
  readonly stream: HranaStream;
  /** Notes a call; true for the first of what the caller has sent. In a transaction that one pays for all of them. */
  readonly opens: () => boolean;
  /** The stream ends behind this request. */
  readonly closes: boolean;
  /** Nothing else that the caller has sent with it runs SQL. */
  readonly isOnly: boolean;
}

/** Of each step its result or its error; neither where its condition did not hold. */
export class BatchRun {
  readonly results: (string | null)[];
  readonly errors: (AppError | null)[];
  /** The answer is that of an earlier request with the same key. */
  replayed = false;

  constructor(private readonly request: RunningRequest, private readonly steps: readonly DoorStep[]) {
    this.results = steps.map(() => null);
    this.errors = steps.map(() => null);
  }

  async run(): Promise<void> {
    const { steps, request } = this;
    const whole = request.stream.transaction === null ? wholeTransaction(steps, request.closes) : null;
    if (whole !== null) return await this.#runWhole(whole);
    requireOneCall(request, isOneCall(steps));
    for (let at = 0; at < steps.length;) {
      const step = steps[at];
      if (step === undefined || !this.#holds(step.condition)) at++;
      else if (step.statement.text.control === null) at = await this.#runGroup(at);
      else await this.#control(at++, step.statement);
    }
  }

  /** The result of a step behind them that needs no call; null: its condition does not hold. */
  add(result: string | null): void {
    this.results.push(result);
    this.errors.push(null);
  }

  /** One atomic call, in which BEGIN, COMMIT and ROLLBACK are the pipeline's. */
  async #runWhole({ mode, inner, begin, commit, rollback, behind }: WholeTransaction): Promise<void> {
    const { steps, request } = this;
    const statements = inner.flatMap((at) => steps[at]?.statement ?? []);
    const writing = mode === "readonly" ? statements.findIndex(isNoRead) : -1;
    const outcome = statements.every(isSetting)
      ? { results: [], failure: null, replayed: false }
      : writing >= 0
      ? { results: [], failure: { at: writing, error: readOnly() }, replayed: false }
      : await this.#call(statements, { atomic: true, batch: true, mayWait: request.isOnly });
    this.replayed = outcome.replayed;
    const failed = outcome.failure === null ? statements.length : outcome.failure.at ?? 0;
    for (const [index, at] of inner.entries()) {
      // Nothing of those before the failure stays.
      if (index < failed) this.results[at] = outcome.results[index] ?? NOTHING;
      else if (index === failed) this.errors[at] = outcome.failure?.error ?? null;
    }
    const ends = outcome.failure === null ? commit : rollback;
    for (const at of [begin, ends, ...behind]) if (at !== null) this.results[at] = NOTHING;
  }

  /** Answers where to go on. */
  async #runGroup(first: number): Promise<number> {
    const { steps, request: { stream, isOnly } } = this;
    const { end, chained } = stepGroup(steps, first);
    const group = steps.slice(first, end).map(({ statement }) => statement);
    const single = group.length === 1;
    const alone = single && steps.length === 1;
    const outcome = await this.#call(group, {
      atomic: single,
      batch: !single,
      mayWait: isOnly && (alone || (first === 0 && end === steps.length && chained)),
    });
    stream.settle();
    this.replayed = outcome.replayed;
    for (const [index, text] of outcome.results.entries()) this.results[first + index] = text;
    const { failure } = outcome;
    if (failure === null) return end;
    const failed = first + (failure.at ?? 0);
    this.errors[failed] = failure.error;
    if (chained) return end;
    if (outcome.results.length === failure.at) return failed + 1;
    // Steps that depend on nothing share the failure of the call that would have run them.
    for (let at = first; at < end; at++) this.errors[at] = failure.error;
    return end;
  }

  async #control(at: number, { text: { control } }: DoorStatement): Promise<void> {
    const { stream, ctx, options } = this.request;
    try {
      if (control !== null) await stream.control(ctx, control, options);
      this.results[at] = NOTHING;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.errors[at] = error;
    }
  }

  #call(
    statements: readonly DoorStatement[],
    form: { readonly atomic: boolean; readonly batch: boolean; readonly mayWait: boolean },
  ): Promise<CallOutcome> {
    const { ctx, options, stream: { transaction }, opens } = this.request;
    return runCall(ctx, statements, { form, opensRequest: opens(), options, transaction });
  }

  #holds(condition: WireCondition | null): boolean {
    switch (condition?.type) {
      case undefined:
        return true;
      case "ok":
        return this.results[condition.step] !== null;
      case "error":
        return this.errors[condition.step] !== null;
      case "not":
        return !this.#holds(condition.cond);
      case "and":
        return condition.conds.every((one) => this.#holds(one));
      case "or":
        return condition.conds.some((one) => this.#holds(one));
      case "is_autocommit":
        return this.request.stream.autocommit;
    }
  }
}

/** Whether the steps run as one call of the pipeline, unless one of them fails. */
function isOneCall(steps: readonly DoorStep[]): boolean {
  const [first] = steps;
  if (first === undefined || first.statement.text.control !== null || first.condition !== null) return false;
  const { end, chained } = stepGroup(steps, 0);
  return end === steps.length && (chained || steps.length === 1);
}

/** Errors: `validation_failed` for a key on what is more than one call, or is inside of a transaction. */
export function requireOneCall({ options, stream }: RunningRequest, oneCall: boolean): void {
  if (options.idempotencyKey === null || (oneCall && stream.transaction === null)) return;
  throw keyOnSeveral();
}

/** A key on what is more than one call. */
export function keyOnSeveral(): AppError {
  return invalidInput(
    "Idempotency-Key",
    "Send the key with one statement or one batch from BEGIN to COMMIT, or leave it out",
  );
}

/** Foreign keys off for a transaction in which nothing else is done. */
function isSetting({ text: { read } }: DoorStatement): boolean {
  return read.ok && read.syntax.pragma?.foreignKeysOff === true;
}

function isNoRead({ text: { read } }: DoorStatement): boolean {
  return read.ok && read.syntax.class !== "read";
}

function readOnly(): AppError {
  return new AppError("sql_error", {
    message: "attempt to write in a read-only transaction",
    detail: { kind: "readonly", table: null, column: null, hint: "Begin a transaction that may write" },
  });
}
