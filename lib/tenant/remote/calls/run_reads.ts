// Reading calls: one round trip, in one read transaction that begins with the check of the schema version. A single
// statement to one server is a transaction by itself, and the version behind it tells under which schema it ran.
import { AppError } from "../../../core/errors.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { TenantOutcome } from "../../tenant_store.ts";
import { failedOutcome, outcomeOf, timedOut } from "../../calls/call_run.ts";
import { undo } from "./undo.ts";
import { Stopped } from "../hrana/deadline.ts";
import {
  all,
  type BatchAnswer,
  type HranaStep,
  ifError,
  ifOk,
  inTransaction,
  losesInfinity,
  type StepResult,
} from "../hrana/hrana.ts";
import type { SendOptions } from "../hrana/hrana_client.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import { asSelect } from "../gate/sent_text.ts";
import { rowsAt } from "../server/remote_context.ts";
import { hranaValue, integerOf } from "../hrana/remote_values.ts";
import { StepReader } from "./read_steps.ts";
import { reachable, untilAnswered } from "../connection/until_answered.ts";
import { piecesOf, SetsCollector } from "./answer_sets.ts";
import type { ParamSets } from "../../../sql/words/param_sets.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { withStatementDeadline } from "../connection/statement_deadline.ts";
import { statementFailure } from "./step_by_step.ts";
import type { AskedCall } from "./write_call.ts";
import { StepList } from "../hrana/step_list.ts";
import { type GatedCall, VERSION, versionGuard } from "../connection/write_steps.ts";
import { asksForCheck } from "../../../sql/grammar/pragmas.ts";

/** Runs a call that only reads. Throws `AppError`, and `Stopped` when `giveWay` has told it to stop. */
export async function runRead(
  connection: RemoteConnection,
  { call, signal }: AskedCall,
  giveWay: AbortSignal,
): Promise<TenantOutcome> {
  try {
    // Reads may always be sent again.
    return await untilAnswered(() => readOnce(connection, { call, signal }, giveWay), () => connection);
  } catch (error) {
    const stopped = error instanceof Stopped && error.why !== "gives_way";
    throw stopped ? new AppError("store_unavailable") : error;
  }
}

async function readOnce(
  connection: RemoteConnection,
  { call, signal }: AskedCall,
  giveWay: AbortSignal,
): Promise<TenantOutcome> {
  const schemaGate = await reachable(() => connection.schemaGate());
  if (call.schemaVersion !== schemaGate.version) return { ok: "stale", schemaVersion: schemaGate.version };
  const read = new Reading(connection, schemaGate, { call, gate: await schemaGate.gate(call) }, {
    signal,
    giveWay,
  });
  const quick = call.paramSets ? "slowly" : await read.atOnce();
  const outcome = quick === "slowly" ? await read.stepByStep() : quick;
  if (outcome !== "stale") return outcome;
  return { ok: "stale", schemaVersion: (await connection.schemaGate()).version };
}

/** Where the version of the schema stands: `guard` fails with another one than the expected; null: there is none. */
interface VersionCheck {
  readonly guard: number | null;
  readonly version: number;
}

interface ReadSteps {
  readonly list: StepList;
  /** Those of the statements. */
  readonly own: readonly number[];
  readonly check: VersionCheck;
}

class Reading {
  readonly #timeoutMs: number;

  constructor(
    private readonly connection: RemoteConnection,
    private readonly schemaGate: SchemaGate,
    private readonly gated: GatedCall,
    private readonly stops: { readonly signal: AbortSignal | null; readonly giveWay: AbortSignal },
  ) {
    const { queryTimeoutMs } = connection.context;
    this.#timeoutMs = Math.min(queryTimeoutMs, gated.call.timeoutMs ?? queryTimeoutMs);
  }

  /** Runs all statements in one request. `slowly`: they have to run one by one. */
  async atOnce(): Promise<TenantOutcome | "stale" | "slowly"> {
    const { call, gate } = this.gated;
    const isSingle = call.statements.length === 1 && this.connection.context.isOneServer === true;
    const { list, own, check } = isSingle ? this.#single() : this.#several();
    const reader = new StepReader(call, 0);
    try {
      let { steps } = await this.#inTime((signal) => this.#sendWhole(list.steps, { signal }));
      if (losesInfinity(steps)) ({ steps } = await this.#send(list.steps, { close: true, binary: true }));
      if (await this.#isStale(steps, check)) return "stale";
      for (const [at, step] of own.entries()) reader.add(at, steps[step] ?? null, null);
    } catch (error) {
      const failure = statementFailure(error);
      if (failure === null) throw error;
      if (call.statements.length > 1) return "slowly";
      return failedOutcome(failure, 0, this.#stoppedMs(failure));
    }
    return outcomeOf(reader.finish(gate));
  }

  /** A request for each statement, each with its own deadline. */
  async stepByStep(): Promise<TenantOutcome | "stale"> {
    const { call, gate } = this.gated;
    const list = new StepList();
    const check = this.#open(list);
    let { steps, baton } = await this.#send(list.steps);
    if (await this.#isStale(steps, check)) {
      void undo(this.connection, baton);
      return "stale";
    }
    const reader = new StepReader(call, 0);
    if (call.paramSets && gate.failure === null) {
      baton = await this.#addSets(reader, call.paramSets, baton);
      void undo(this.connection, baton);
      return outcomeOf(reader.finish(gate));
    }
    for (const [at, { sql, params }] of call.statements.slice(0, gate.sendable).entries()) {
      if (reader.runner.ended) break;
      const step: HranaStep = { stmt: { sql: asSelect(sql), args: params.map(hranaValue) } };
      try {
        ({ steps, baton } = await this.#send([step], { baton }));
        if (losesInfinity(steps)) ({ steps, baton } = await this.#send([step], { baton, binary: true }));
        reader.add(at, steps[0] ?? null, null);
      } catch (error) {
        const failure = statementFailure(error);
        if (failure === null) throw error;
        reader.runner.fail(failure, this.#stoppedMs(failure));
        baton = null;
      }
    }
    void undo(this.connection, baton);
    return outcomeOf(reader.finish(gate));
  }

  /** A request for each piece of the sets. Returns the baton of the stream, null where there is none any more. */
  async #addSets(reader: StepReader, paramSets: ParamSets, begun: string | null): Promise<string | null> {
    const { call } = this.gated;
    const sql = call.statements[0]?.sql ?? "";
    const collector = new SetsCollector(call.bounds, call.rowForm);
    let baton = begun;
    for (const piece of piecesOf(sql, paramSets)) {
      const sent = piece.map((params) => ({ stmt: { sql: asSelect(sql), args: params.map(hranaValue) } }));
      try {
        const answer = await this.#send(sent, { baton, binary: true });
        baton = answer.baton;
        for (const at of piece.keys()) collector.add(sql, answer.steps[at] ?? null, null);
      } catch (error) {
        const failure = statementFailure(error);
        if (failure === null) throw error;
        collector.failure = failure;
        collector.ms += this.#stoppedMs(failure);
        baton = null;
      }
      if (collector.failure !== null) break;
    }
    reader.addSets(collector);
    return baton;
  }

  /** A version only rises, so one that is the expected behind the statement was so while it ran. */
  #single(): ReadSteps {
    const { call, gate } = this.gated;
    const list = new StepList();
    const own = call.statements.slice(0, gate.sendable)
      .map(({ sql, params }) => list.add(asSelect(sql), null, params.map(hranaValue)));
    return { list, own, check: { guard: null, version: list.add(VERSION) } };
  }

  #several(): ReadSteps {
    const { call, gate } = this.gated;
    const list = new StepList();
    const check = this.#open(list);
    let before = check.guard;
    const own = call.statements.slice(0, gate.sendable).map(({ sql, params }) => {
      before = list.add(asSelect(sql), ifOk(before), params.map(hranaValue));
      return before;
    });
    list.add("COMMIT", inTransaction);
    return { list, own, check };
  }

  /** The server tells no time of a statement that was stopped. */
  #stoppedMs(failure: EngineFailure): number {
    return failure === timedOut ? this.#timeoutMs : 0;
  }

  #open(list: StepList) {
    const [sql, args] = versionGuard(this.schemaGate.schema.engineVersion);
    const begin = list.add("BEGIN");
    const guard = list.add(sql, ifOk(begin), args);
    return { guard, version: list.add(VERSION, all(ifOk(begin), ifError(guard))) };
  }

  /** A batch that ends whatever transaction it began. */
  #sendWhole(steps: readonly HranaStep[], options: SendOptions): Promise<BatchAnswer> {
    const { connection } = this;
    const alone = () => connection.send("read", { steps, baton: null, close: true }, options);
    if (steps.some(({ stmt }) => asksForCheck(stmt.sql))) return alone();
    return connection.onStream("read", async (stream) => {
      if (stream === null) return await alone();
      const answer = await connection.sendFirst(stream, steps, options);
      if (answer.steps.at(-1)?.ok !== false) stream.baton = answer.baton;
      else void undo(connection, answer.baton);
      return answer;
    });
  }

  /** `binary`: in the form that has infinities. */
  #send(
    steps: readonly HranaStep[],
    { baton = null, close = false, binary = false }: {
      readonly baton?: string | null;
      readonly close?: boolean;
      readonly binary?: boolean;
    } = {},
  ) {
    return this.#inTime((signal) =>
      this.connection.send("read", { steps, baton, close }, { signal, binary })
    );
  }

  #inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const bounds = { timeoutMs: this.#timeoutMs, waiting: [this.stops.signal], giveWay: this.stops.giveWay };
    return withStatementDeadline(this.connection, bounds, work);
  }

  async #isStale(steps: readonly StepResult[], { guard, version }: VersionCheck): Promise<boolean> {
    if (guard !== null && steps[guard]?.ok) return false;
    const engineVersion = integerOf(rowsAt(steps, version)[0]?.[0]);
    if (guard === null && engineVersion === this.schemaGate.schema.engineVersion) return false;
    await this.connection.seen(engineVersion);
    return true;
  }
}
