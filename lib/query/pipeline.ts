// The order in which everything that runs in a database passes its stages: statements, and merges of branches.
import { type Clock, roundMs } from "../core/clock.ts";
import type { AppError } from "../core/errors.ts";

/** What a stage says to the pipeline. */
export type Said<Found, Answer> =
  /** The call is answered: no later stage runs. */
  | { readonly say: "answer"; readonly answer: Answer }
  /** The database has changed since an earlier stage read it: all stages run again. */
  | typeof START_OVER
  /** The next stage runs, with what this one has found. */
  | { readonly say: "go on"; readonly found: Found };

/** Said where the database has changed since an earlier stage read it. */
export const START_OVER = { say: "start over" } as const;

/** The call is answered. */
export function answered<Answer>(answer: Answer): Said<never, Answer> {
  return { say: "answer", answer };
}

/** The next stage runs, with what this one has found. */
export function goOn<Found>(found: Found): Said<Found, never> {
  return { say: "go on", found };
}

/** A value at once where possible: each function that waits makes some 600 bytes of garbage, and a point read passes many. */
export type Soon<Value> = Value | Promise<Value>;

/** The stages of one kind of call, in three groups; `Call` is the call on its way. */
export interface Stages<Call, Checked, Admitted, Answer> {
  /** Checks that need neither the engine nor money: the caller's role, and the rules that the call matches. */
  readonly check: (call: Call) => Soon<Said<Checked, Answer>>;
  /** Reserves money and applies the rules. What stops a call stops it here at the latest, before anything has run. */
  readonly admit: (call: Call, checked: Checked) => Soon<Said<Admitted, Answer>>;
  /** Runs the call. */
  readonly perform: (call: Call, admitted: Admitted) => Promise<Said<never, Answer>>;
  /** Whether the failure with which `check` or `admit` turns a call away comes of what has changed since: all stages run again. */
  readonly isOutdated?: (call: Call, error: unknown) => Promise<boolean>;
  /** Called with the failure of a call that `check` or `admit` has turned away. */
  readonly turnedAway?: (call: Call, error: unknown) => void;
}

/** Passes all stages once, in their order. Errors: those of the stages. */
export async function passStages<Call, Checked, Admitted, Answer>(
  stages: Stages<Call, Checked, Admitted, Answer>,
  call: Call,
): Promise<Said<never, Answer>> {
  let admitted;
  try {
    const checking = stages.check(call);
    const checked = checking instanceof Promise ? await checking : checking;
    if (checked.say !== "go on") return checked;
    const admitting = stages.admit(call, checked.found);
    admitted = admitting instanceof Promise ? await admitting : admitting;
  } catch (error) {
    if (await stages.isOutdated?.(call, error)) return START_OVER;
    stages.turnedAway?.(call, error);
    throw error;
  }
  return admitted.say === "go on" ? await stages.perform(call, admitted.found) : admitted;
}

/** The most times that a call passes the stages while the database changes under it. */
export const MAX_TRIES = 5;

/** Starts over whenever the stages say so, up to `tries` times in all; then rejects with the error of `busy`. */
export function untilAnswered<Answer>(
  attempt: () => Promise<Said<never, Answer>>,
  busy: () => AppError,
  tries = MAX_TRIES,
): Promise<Answer> {
  return attempt().then((said) => {
    if (said.say === "answer") return said.answer;
    if (tries === 1) throw busy();
    return untilAnswered(attempt, busy, tries - 1);
  });
}

/** Stages in their order, as the header has them. Each order that there is, is put together once. */
class StageNames {
  readonly #longer = new Map<string, StageNames>();

  constructor(readonly text: string) {}

  and(stage: string): StageNames {
    let longer = this.#longer.get(stage);
    if (longer === undefined) this.#longer.set(stage, longer = new StageNames(joined(this.text, stage)));
    return longer;
  }
}

const noStages = new StageNames("");

function joined(stages: string, others: string): string {
  return stages === "" || others === "" ? stages + others : `${stages}, ${others}`;
}

/**
 * Times the stages of one call for the `Server-Timing` header (W3C Server Timing). To read the clock for each stage would
 * be a noticeable part of a point read, so only a stage that may have waited has a time.
 */
export class StageTimer {
  #lastMs: number;
  /** Up to the last stage with a time. */
  #timed = "";
  #passed = noStages;

  constructor(private readonly clock: Clock) {
    this.#lastMs = clock.monotonicMs();
  }

  /** Ends a stage. Its time begins where that of the last stage with a time ended. */
  end(stage: string): void {
    const nowMs = this.clock.monotonicMs();
    // A number in a template leaves its text in a cache of V8, among its old objects.
    this.#timed = joined(this.header, `${stage};dur=${(nowMs - this.#lastMs).toFixed(3)}`);
    this.#passed = noStages;
    this.#lastMs = nowMs;
  }

  /** Ends a stage that has waited for nothing. It has no time of its own. */
  pass(stage: string): void {
    this.#passed = this.#passed.and(stage);
  }

  /** Ends a stage with its result, which it hands on: without a time where the result is there at once. */
  endWith<Value>(stage: string, result: Soon<Value>): Soon<Value> {
    if (result instanceof Promise) return result.finally(() => this.end(stage));
    this.pass(stage);
    return result;
  }

  /** Milliseconds since the last stage with a time ended. */
  get stageMs(): number {
    return roundMs(this.clock.monotonicMs() - this.#lastMs);
  }

  /** The value of the header. */
  get header(): string {
    return joined(this.#timed, this.#passed.text);
  }
}
