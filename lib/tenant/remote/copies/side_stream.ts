// Answers what work on branches asks of one side: a request for each question, all in one transaction where it has one.
import { ownTurn } from "../../../core/own_turn.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { Answer, Ask, Side, Work } from "../../branches/work.ts";
import { withDeadline } from "../hrana/deadline.ts";
import {
  all,
  type BatchAnswer,
  type BatchRequest,
  type HranaCondition,
  type HranaStep,
  ifOk,
  inTransaction,
  losesInfinity,
  type StepResult,
} from "../hrana/hrana.ts";
import type { SendForm, SendOptions } from "../hrana/hrana_client.ts";
import { mustBeOpen, RemoteFailure } from "../hrana/remote_failure.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { fromHrana, toHrana } from "../hrana/remote_values.ts";

/** Milliseconds after which an idle stream gets a request without steps, because the server closes it after ten seconds. */
const IDLE_MS = 4000;

export type Send = (request: BatchRequest, options: SendOptions) => Promise<BatchAnswer>;

/** The engine has refused a statement. */
export class StatementFailed extends Error {
  override readonly name = "StatementFailed";

  constructor(readonly failure: EngineFailure) {
    super(failure.kind);
  }
}

/** A stream to one side. If it has a transaction, that stays open until `end` or `leave`, also while nothing is asked. */
export class SideStream {
  #baton: string | null = null;
  #begun = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #touched: Promise<void> = Promise.resolve();

  /** `opening`: statements that begin its transaction; none: each request is by itself. */
  constructor(
    private readonly send: Send,
    private readonly opening: readonly string[],
    private readonly timeoutMs: number,
  ) {}

  /** Throws `StatementFailed`, `RemoteFailure` and `Stopped`. */
  async answer({ statements, each }: Ask): Promise<readonly Answer[]> {
    const opening = this.#begun ? [] : this.opening;
    const first = opening.length;
    const within = this.opening.length > 0 ? inTransaction : null;
    const steps: HranaStep[] = opening.map((sql) => ({ stmt: { sql } }));
    for (const [at, { sql, params }] of statements.entries()) {
      const condition = conditionOf(within, each === "must" && at > 0 ? ifOk(first + at - 1) : null);
      const stmt = params.length > 0 ? { sql, args: params.map(toHrana) } : { sql };
      steps.push({ stmt, ...(condition ? { condition } : {}) });
    }
    // JSON has no infinity, on the way there or back. Statements that answer with rows change nothing, so they may run twice.
    const binary = statements.some(({ params }) =>
      params.some((value) => value === Infinity || value === -Infinity)
    );
    try {
      const results = await this.#request(steps, { binary });
      refuseOpening(results.slice(0, first));
      this.#begun = true;
      if (!losesInfinity(results)) return readAnswers(results.slice(first), each);
      return readAnswers(await this.#request(steps.slice(first).map(unconditional), { binary: true }), each);
    } catch (error) {
      const failure = statements.length === 1 ? tooLargeAnswer(error) : null;
      if (failure === null) throw error;
      return [{ ok: false, failure, error: new StatementFailed(failure) }];
    }
  }

  /** Gives the transaction up; where that cannot be said, the server does it by itself after a while. */
  async end(): Promise<void> {
    const baton = await this.leave();
    if (baton === null) return;
    await this.#send({ steps: [{ stmt: { sql: "ROLLBACK" } }], baton, close: true }).catch(() => {});
  }

  /** Hands over the stream, by its baton; null: there is none, or it is lost. */
  async leave(): Promise<string | null> {
    await this.#touched;
    clearTimeout(this.#timer);
    const baton = this.#baton;
    this.#baton = null;
    return baton;
  }

  async #request(
    steps: readonly HranaStep[],
    form: SendForm,
  ): Promise<readonly StepResult[]> {
    const stays = this.opening.length > 0;
    const answer = await this.#send({ steps, baton: await this.leave(), close: !stays }, form);
    if (stays && answer.baton === null) throw new RemoteFailure("lost_stream");
    this.#hold(answer.baton);
    return answer.steps;
  }

  #send(request: BatchRequest, form: SendForm = {}): Promise<BatchAnswer> {
    return withDeadline(this.timeoutMs, [], (signal) => this.send(request, { ...form, signal }));
  }

  #hold(baton: string | null): void {
    this.#baton = baton;
    if (baton !== null) this.#timer = setTimeout(() => this.#touched = this.#touch(baton), IDLE_MS);
  }

  async #touch(baton: string): Promise<void> {
    this.#baton = null;
    try {
      this.#hold((await this.#send({ steps: [], baton, close: false })).baton);
    } catch {
      // The next question will find that the stream is lost.
    }
  }
}

/** Asks each side what the work asks of it. Throws `StatementFailed`, `RemoteFailure` and `Stopped`. */
export async function runRemotely<T>(
  work: Work<T>,
  sides: Readonly<Partial<Record<Side, Pick<SideStream, "answer">>>>,
): Promise<T> {
  let step = work.next();
  while (!step.done) {
    if (step.value.statements.length === 0) {
      await ownTurn();
      step = work.next([]);
      continue;
    }
    const side = sides[step.value.of];
    if (!side) throw new TypeError(`nothing is open as the ${step.value.of}`);
    step = work.next(await side.answer(step.value));
  }
  return step.value;
}

function conditionOf(...conditions: readonly (HranaCondition | null)[]): HranaCondition | null {
  const some = conditions.filter((one) => one !== null);
  return some.length > 1 ? all(...some) : some[0] ?? null;
}

function unconditional({ stmt }: HranaStep): HranaStep {
  return { stmt };
}

/**
 * Where an answer is too large, sqld refuses the request as a whole, and the stream with it: whoever goes on in a transaction
 * learns that it is lost. Null: it has failed for another reason.
 */
function tooLargeAnswer(error: unknown): EngineFailure | null {
  if (!(error instanceof RemoteFailure) || error.reason !== "unreadable") return null;
  const failure = stepFailure({ message: error.message, code: error.more.code ?? "" });
  return failure.kind === "result_too_large" ? failure : null;
}

function refuseOpening(results: readonly StepResult[]): void {
  for (const step of results) if (step?.ok === false) throw new StatementFailed(stepFailure(step));
}

function readAnswers(results: readonly StepResult[], each: Ask["each"]): Answer[] {
  const answers: Answer[] = [];
  for (const step of results) {
    if (step === null) {
      // A statement after a failed one is left out on purpose; any other, because the transaction has ended by itself.
      if (each === "must" && answers.at(-1)?.ok === false) break;
      throw new RemoteFailure("lost_stream");
    }
    if (step.ok) {
      answers.push({ ok: true, rows: step.rows.map((row) => row.map(fromHrana)) });
      continue;
    }
    mustBeOpen([step]);
    const failure = stepFailure(step);
    answers.push({ ok: false, failure, error: new StatementFailed(failure) });
  }
  return answers;
}
