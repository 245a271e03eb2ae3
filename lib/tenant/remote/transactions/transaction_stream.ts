// The stream of a transaction that lasts over several requests: every statement on it runs only while the server still has
// the transaction. A server takes one away whose time is up, and would then run what comes next by itself.
import { newId } from "../../../core/ids.ts";
import { MAX_KEPT_SAVEPOINTS } from "../../../core/limits_of_transactions.ts";
import { newestChangeQuery } from "../../../sql/service/change_rows.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import { type SavepointVerb, takenAway } from "../../transaction_control.ts";
import {
  all,
  type HranaStep,
  ifError,
  ifOk,
  inTransaction,
  outsideTransaction,
  type StepResult,
} from "../hrana/hrana.ts";
import type { SendOptions } from "../hrana/hrana_client.ts";
import { mustBeOpen, RemoteFailure } from "../hrana/remote_failure.ts";
import { hranaValue, integerOf } from "../hrana/remote_values.ts";
import { StepList } from "../hrana/step_list.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { type Mode, rowsAt, send } from "../server/remote_context.ts";
import { undo } from "../calls/undo.ts";
import { withStatementDeadline } from "../connection/statement_deadline.ts";
import { VERSION, versionGuard } from "../connection/write_steps.ts";

/** A row that only the transaction sees tells, before anything of a call could be committed, that it is still the same. */
const INSERT_MARK =
  "INSERT INTO _service_meta_query_log VALUES (?,0,'','','',NULL,'transaction','ok',NULL,0,0,0,0,'')";
const SEES_MARK = "SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM _service_meta_query_log WHERE id = ?) " +
  "THEN abs(-9223372036854775808) END";
const REMOVE_MARK = "DELETE FROM _service_meta_query_log WHERE id = ?";

/** The stream as it rests between two requests. */
export interface RestingStream {
  readonly location: string;
  readonly baton: string;
  /** Null: it has written nothing. */
  readonly mark: Mark | null;
  /** Absent in a text of an earlier version. */
  readonly savepoints?: readonly string[] | null;
}

/** The row that only the transaction sees, and how many savepoints were open when it was written. */
interface Mark {
  readonly id: string;
  readonly depth: number;
}

/** How a transaction has begun. */
export type Begun =
  | { readonly k: "begun" }
  | { readonly k: "stale" }
  | { readonly k: "refused"; readonly step: Extract<StepResult, { ok: false }> };

/** One stream. */
export class TransactionStream {
  #baton: string | null;
  #location: string | null;
  #mark: Mark | null;
  /** Statements about savepoints before the first write; null: that has come, or there are too many of them. */
  #savepoints: readonly string[] | null;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly mode: Mode,
    rested: RestingStream | null,
  ) {
    this.#baton = rested?.baton ?? null;
    this.#location = rested?.location ?? null;
    this.#mark = rested?.mark ?? null;
    this.#savepoints = rested === null ? [] : rested.savepoints ?? null;
  }

  get isOpen(): boolean {
    return this.#baton !== null;
  }

  /** Null: there is none. */
  get resting(): RestingStream | null {
    if (this.#baton === null || this.#location === null) return null;
    return {
      location: this.#location,
      baton: this.#baton,
      mark: this.#mark,
      savepoints: this.#savepoints,
    };
  }

  /** Begins the transaction if the schema is that of the version. */
  async begin(sql: string, engineVersion: number): Promise<Begun> {
    this.#location = (await this.connection.located()).location;
    const list = new StepList();
    const [guardSql, guardArgs] = versionGuard(engineVersion);
    const begin = list.add(sql);
    const guard = list.add(guardSql, ifOk(begin), guardArgs);
    const version = list.add(VERSION, all(ifOk(begin), ifError(guard)));
    const steps = await this.#request(list.steps);
    const begun = steps[begin];
    if (steps[guard]?.ok) return { k: "begun" };
    await this.end();
    if (begun?.ok === false) return { k: "refused", step: begun };
    await this.connection.seen(integerOf(rowsAt(steps, version)[0]?.[0]));
    return { k: "stale" };
  }

  /** Runs steps while the transaction is there; those behind its end have the answer null. */
  send(
    steps: readonly HranaStep[],
    options: Partial<SendOptions> = {},
  ): Promise<readonly StepResult[]> {
    return this.#request(
      steps.map(({ stmt, condition }) => ({
        stmt,
        condition: condition ? all(condition, inTransaction) : inTransaction,
      })),
      options,
    );
  }

  /** Opens the savepoint of a writing call, in a transaction that is marked. The answer of the last step is the first failure. */
  async openCall(depth: number, signal: AbortSignal | null): Promise<StepResult> {
    const list = new StepList();
    if (this.#mark === null) {
      const id = newId("qry", this.connection.context.clock.now());
      const inserted = list.add(INSERT_MARK, inTransaction, [hranaValue(id)]);
      list.add("SAVEPOINT call", ifOk(inserted));
      const ask = () => this.#request(list.steps, { signal });
      let steps = await ask();
      if (isBusy(steps[inserted]) && await this.#goOnInNewest(signal)) steps = await ask();
      if (steps[inserted]?.ok) [this.#mark, this.#savepoints] = [{ id, depth }, null];
      return steps.find((step) => step?.ok !== true) ?? steps[0] ?? null;
    }
    const seen = list.add(SEES_MARK, inTransaction, [hranaValue(this.#mark.id)]);
    list.add("SAVEPOINT call", ifOk(seen));
    const [first = null, second = null] = await this.#request(list.steps, { signal });
    return first?.ok ? second : null;
  }

  /** Closes that savepoint; false: the transaction was no more what it was, and nothing of the call is kept. */
  async closeCall(before: readonly string[]): Promise<boolean> {
    const list = new StepList();
    for (const sql of before) list.add(sql, inTransaction);
    const seen = list.add(SEES_MARK, inTransaction, [hranaValue(this.#mark?.id ?? "")]);
    const released = list.add("RELEASE call", ifOk(seen));
    list.add("ROLLBACK", all(ifError(seen), inTransaction));
    const steps = await this.#request(list.steps);
    return steps[released]?.ok === true;
  }

  /** Whether the server has ended the transaction, or a statement in it has. */
  async isGone(): Promise<boolean> {
    const [step] = await this.#request([{ stmt: { sql: "SELECT 1" }, condition: outsideTransaction }]);
    return step?.ok === true;
  }

  /** Whether it has written something. */
  get wrote(): boolean {
    return this.#mark !== null;
  }

  /** Runs a savepoint statement; `at`: how many savepoints were open before the one that it names. */
  async savepoint(verb: SavepointVerb, name: string, at: number): Promise<StepResult> {
    const sql = `${verb.toUpperCase()} ${quoteIdentifier(name)}`;
    const [step = null] = await this.send([{ stmt: { sql } }]);
    if (step?.ok) this.#noteSavepoint(verb, sql, at);
    return step;
  }

  #noteSavepoint(verb: SavepointVerb, sql: string, at: number): void {
    const kept = this.#savepoints;
    if (kept !== null) this.#savepoints = kept.length < MAX_KEPT_SAVEPOINTS ? [...kept, sql] : null;
    if (this.#mark === null || verb === "savepoint") return;
    if (verb === "release") this.#mark = { ...this.#mark, depth: Math.min(this.#mark.depth, at) };
    else if (this.#mark.depth > at) this.#mark = null;
  }

  /**
   * The server lets it write nothing, because somebody has committed since the state that it has read; log rows of reads are
   * nobody's change. Goes on in the newest state, on a stream that may write, where that has the same rows; else false.
   */
  async #goOnInNewest(signal: AbortSignal | null): Promise<boolean> {
    if (this.#savepoints === null) return false;
    const list = new StepList();
    let last = list.add("BEGIN IMMEDIATE");
    const newest = last = list.add(newestChangeQuery, ifOk(last));
    for (const sql of this.#savepoints) last = list.add(sql, ifOk(last));
    const seen = await this.send([{ stmt: { sql: newestChangeQuery } }], { signal });
    let unused = this.take();
    try {
      const steps = await this.#request(list.steps, { signal });
      const isSame = steps[last]?.ok === true && seen[0]?.ok === true &&
        JSON.stringify(rowsAt(steps, newest)) === JSON.stringify(rowsAt(seen, 0));
      if (!isSame) [this.#baton, unused] = [unused, this.take()];
      return isSame;
    } finally {
      await undo(this.connection, unused);
    }
  }

  /** Begins what commits it: the mark is seen, and removed. Returns the step that has opened the savepoint `records`. */
  closeInto(list: StepList): number {
    const args = [hranaValue(this.#mark?.id ?? "")];
    const seen = list.add(SEES_MARK, inTransaction, args);
    const records = list.add("SAVEPOINT records", ifOk(seen));
    list.add(REMOVE_MARK, ifOk(records), args);
    return records;
  }

  /** The stream's name, for a last request. */
  take(): string | null {
    const baton = this.#baton;
    this.#baton = null;
    return baton;
  }

  /** Rolls back. Where that cannot be said, the server does it by itself after a while. */
  async end(): Promise<void> {
    await undo(this.connection, this.take());
  }

  async #request(
    steps: readonly HranaStep[],
    { signal = null, binary = false }: Partial<SendOptions> = {},
  ): Promise<readonly StepResult[]> {
    const { location } = await this.connection.located();
    if (location !== this.#location) throw takenAway("the database was replaced");
    const baton = this.take();
    const bounds = { timeoutMs: this.connection.context.queryTimeoutMs, waiting: [signal] };
    const target = { location, mode: this.mode };
    const ask = (signal: AbortSignal) =>
      send(this.connection.context, target, { steps, baton, close: false }, { signal, binary, once: true });
    const answer = await withStatementDeadline(this.connection, bounds, ask).catch((error) => {
      // What the server does not send, such as a result that is too large, leaves the stream open.
      if (error instanceof RemoteFailure) this.#baton = error.more.baton ?? null;
      throw error;
    });
    if (answer.baton === null) throw new RemoteFailure("lost_stream");
    this.#baton = answer.baton;
    mustBeOpen(answer.steps);
    return answer.steps;
  }
}

function isBusy(step: StepResult | undefined): boolean {
  return step?.ok === false && step.code === "SQLITE_BUSY";
}
