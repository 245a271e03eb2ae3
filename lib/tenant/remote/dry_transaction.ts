// A transaction in several requests that is always undone, and that has one bound in time for all of them.
import type { Answer, Ask } from "../calls/work.ts";
import { answerAsk } from "./answer_ask.ts";
import { Stopped } from "./hrana/deadline.ts";
import { type HranaStep, ifError, type StepResult } from "./hrana/hrana.ts";
import { rowsAt } from "./remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteConnection } from "./remote_connection.ts";
import { integerOf } from "./hrana/remote_values.ts";
import { withStatementDeadline } from "./statement_deadline.ts";
import { undo } from "./commit_group.ts";
import { VERSION, versionGuard } from "./write_steps.ts";

export class DryTransaction {
  readonly timeoutMs: number;
  readonly #signal: AbortSignal | null;
  #leftMs: number;
  #baton: string | null = null;

  constructor(
    private readonly connection: RemoteConnection,
    { signal, timeoutMs }: { readonly signal: AbortSignal | null; readonly timeoutMs: number },
  ) {
    this.#signal = signal;
    this.timeoutMs = timeoutMs;
    this.#leftMs = timeoutMs;
  }

  /** True: the schema is another one. */
  async begin(engineVersion: number, foreignKeysOff: boolean): Promise<boolean> {
    const [sql, args] = versionGuard(engineVersion);
    const first = foreignKeysOff ? [{ stmt: { sql: "PRAGMA foreign_keys=OFF" } }] : [];
    const guard = first.length + 1;
    const steps: HranaStep[] = [
      ...first,
      { stmt: { sql: "BEGIN IMMEDIATE" } },
      { stmt: { sql, args } },
      { stmt: { sql: VERSION }, condition: ifError(guard) },
    ];
    const answers = await this.#request(steps, false);
    rowsAt(answers, guard - 1);
    if (answers[guard]?.ok) return false;
    await this.connection.seen(integerOf(rowsAt(answers, guard + 1)[0]?.[0]));
    return true;
  }

  /** Throws `RemoteFailure` and `Stopped`. */
  answer(ask: Ask): Promise<readonly Answer[]> {
    return answerAsk((steps, binary) => this.#request(steps, binary), ask);
  }

  async end(): Promise<void> {
    await undo({ connection: this.connection }, { baton: this.#baton, steps: [] });
  }

  async #request(steps: readonly HranaStep[], binary: boolean): Promise<readonly StepResult[]> {
    const startedMs = this.connection.context.clock.monotonicMs();
    const bounds = { timeoutMs: Math.max(1, this.#leftMs), waiting: [this.#signal] };
    const answer = await withStatementDeadline(this.connection, bounds, (signal) => {
      const baton = this.#baton;
      this.#baton = null;
      return this.connection.send("write", { steps, baton, close: false }, { signal, binary });
    });
    this.#leftMs -= this.connection.context.clock.monotonicMs() - startedMs;
    if (answer.baton === null) throw new RemoteFailure("lost_stream");
    // First of all: without it the transaction could not be undone and would hold the server's write lock.
    this.#baton = answer.baton;
    if (this.#leftMs <= 0) throw new Stopped("timeout");
    return answer.steps;
  }
}
