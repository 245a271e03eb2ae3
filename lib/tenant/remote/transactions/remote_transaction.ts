// A transaction over several calls in a remote store. It rests in the server's stream, so that any process goes on with it.
import { AppError } from "../../../core/errors.ts";
import { transactionLimits } from "../../../core/limits_of_transactions.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import { failedOutcome } from "../../calls/call_run.ts";
import type { InspectedStatement } from "../../../engine/compile_statement.ts";
import type { Inspection, InspectOptions, SchemaNames } from "../../inspection.ts";
import { readOnlyOutcome } from "../../read_only_outcome.ts";
import type { TenantCall, TenantOutcome, TenantTransaction } from "../../tenant_store.ts";
import { type SavepointVerb, takenAway, type TransactionOptions } from "../../transaction_control.ts";
import { type RestingRecords, TransactionRecords } from "../../log/transaction_records.ts";
import { commitInside } from "./commit_inside.ts";
import type { SchemaGate } from "../gate/schema_gate.ts";
import { closeComments } from "../gate/sent_text.ts";
import { Stopped } from "../hrana/deadline.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";
import type { RemoteSnapshots } from "../copies/remote_snapshots.ts";
import { dryInside, lastFailure, readInside, writeInside } from "./run_inside.ts";
import type { TenantLog } from "../calls/tenant_log.ts";
import { type RestingSchema, TransactionSchema } from "./transaction_schema.ts";
import { type RestingStream, TransactionStream } from "./transaction_stream.ts";

/** What a transaction gets from its database. */
export interface RemoteTransactionParts {
  readonly connection: RemoteConnection;
  readonly log: TenantLog;
  readonly snapshots: RemoteSnapshots;
}

/** A transaction between two requests. */
interface Resting {
  readonly stream: RestingStream | null;
  /** Unix time at which it began; null: it has not. */
  readonly begunMs: number | null;
  readonly schema: RestingSchema;
  readonly snapshot: string | null;
  readonly records: RestingRecords;
}

/** One transaction. The server bounds how long it may be idle, and how long it may hold others up. */
export class RemoteTransaction implements TenantTransaction {
  lost: string | null = null;
  #isOver = false;
  #begunMs: number | null;
  #snapshot: string | null;
  readonly #stream: TransactionStream;
  readonly #schema: TransactionSchema;
  readonly #records: TransactionRecords;

  constructor(private readonly parts: RemoteTransactionParts, private readonly options: TransactionOptions) {
    const { connection, log } = parts;
    const rested = options.rested === undefined ? null : readResting(options.rested);
    this.#begunMs = rested?.begunMs ?? null;
    this.#snapshot = rested?.snapshot ?? null;
    const mode = options.mode === "readonly" ? "read" : "write";
    this.#stream = new TransactionStream(connection, mode, rested?.stream ?? null);
    this.#schema = new TransactionSchema(connection, this.#stream, rested?.schema);
    this.#records = new TransactionRecords(log, connection.context.clock, rested?.records);
  }

  get begun(): boolean {
    return this.#begunMs !== null;
  }

  get ended(): boolean {
    return this.#isOver && this.lost === null;
  }

  async inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    return (await this.#inTime(() => this.#schema.now())).inspect(statements, options);
  }

  async schema(): Promise<SchemaNames> {
    const gate = await this.#inTime(() => this.#schema.now());
    return { schemaVersion: gate.version, tables: await gate.tables() };
  }

  async run(asked: TenantCall): Promise<TenantOutcome> {
    const call = closeComments(asked);
    this.#mustGoOn();
    if (call.readsLog && !this.begun) await this.parts.log.flush();
    const outcome = this.options.mode === "readonly" && call.level !== "read"
      ? readOnlyOutcome()
      : await this.#inTime(() => this.#run(call), (failure) => failedOutcome(failure, 0, 0));
    this.#records.add(call, outcome);
    if (this.#isOver) this.#records.undone();
    return outcome;
  }

  async commit(): Promise<EngineFailure | null> {
    this.#mustGoOn();
    return this.#stream.wrote ? await this.#commit() : await this.#end().then(() => null);
  }

  async rollback(): Promise<void> {
    this.#mustGoOn();
    await this.#end();
  }

  async savepoint(verb: SavepointVerb, name: string): Promise<EngineFailure | null> {
    this.#mustGoOn();
    const [, at] = this.#records.depthOf(name);
    const failure = await this.#inTime(async () => {
      const refused = this.begun ? null : await this.#begin(await this.parts.connection.freshSchemaGate());
      if (refused !== null) throw new AppError("database_busy");
      const step = await this.#stream.savepoint(verb, name, at);
      if (step === null) throw new RemoteFailure("lost_stream");
      return step.ok ? null : stepFailure(step, name);
    });
    if (failure !== null) return failure;
    if (verb === "rollback to") this.#schema.undone();
    this.#records.savepoint(verb, name);
    return null;
  }

  abandon(): void {
    if (this.#isOver) return;
    this.lost = "whoever began it has gone";
    void this.#end();
  }

  rest(): string {
    const resting: Resting = {
      stream: this.#stream.resting,
      begunMs: this.#begunMs,
      schema: this.#schema.resting,
      snapshot: this.#snapshot,
      records: this.#records.resting,
    };
    return JSON.stringify(resting);
  }

  async #run(call: TenantCall): Promise<TenantOutcome> {
    const { connection, snapshots } = this.parts;
    const gateOf = await this.#schema.now();
    if (call.schemaVersion !== gateOf.version) return { ok: "stale", schemaVersion: gateOf.version };
    const writes = call.level !== "read";
    const begun = this.begun ? null : await this.#begin(gateOf, writes);
    if (begun !== null) return begun;
    if (call.snapshot !== null) {
      await snapshots.take(connection, call.snapshot);
      this.#snapshot = call.snapshot;
    }
    const inside = { call, gate: await gateOf.gate(call), stream: this.#stream, signal: call.signal() };
    const [depth] = this.#records.depthOf("");
    if (call.dryRun) return await dryInside(inside, depth);
    if (!writes) return await readInside(inside);
    const { outcome, gone } = await writeInside(inside, depth);
    if (gone) await this.#end();
    if (call.level === "schema") this.#schema.change();
    if (outcome.ok !== true && call.snapshot !== null) await this.#dropSnapshot();
    return outcome;
  }

  /** Null: it has begun. */
  async #begin(gate: SchemaGate, writes = false): Promise<TenantOutcome | null> {
    const sql = writes || this.options.mode === "immediate" ? "BEGIN IMMEDIATE" : "BEGIN";
    const begun = await this.#stream.begin(sql, gate.schema.engineVersion);
    if (begun.k === "refused") return failedOutcome(stepFailure(begun.step), 0, 0);
    if (begun.k === "stale") {
      return { ok: "stale", schemaVersion: (await this.parts.connection.schemaGate()).version };
    }
    this.#begunMs = this.#nowMs;
    this.#schema.begin(gate);
    return null;
  }

  async #commit(): Promise<EngineFailure | null> {
    const { connection } = this.parts;
    const end = await commitInside(connection, this.#stream, this.#records);
    if (end.k === "failed" && end.failure.kind === "foreign_key_violation") return end.failure;
    if (end.k === "committed") {
      this.#records.committed();
      connection.context.commits.tell(connection.databaseId);
      this.#snapshot = null;
      if (this.#schema.changed) connection.forgetSchema();
    } else if (end.k === "gone") this.lost = "its server had ended it";
    await this.#end();
    if (end.k === "unknown") {
      connection.context.commits.tell(connection.databaseId);
      throw new AppError("outcome_unknown");
    }
    if (this.lost !== null) throw takenAway(this.lost);
    return end.k === "failed" ? end.failure : null;
  }

  /** Errors: `transaction_timeout` where the server has ended it, or could not be asked. */
  async #inTime<T>(work: () => Promise<T>, stopped: (failure: EngineFailure) => T = throwIt): Promise<T> {
    this.#mustGoOn();
    const { longestMs } = transactionLimits;
    const isDue = this.#begunMs !== null && this.#nowMs - this.#begunMs >= longestMs;
    if (isDue) await this.#lose(`it was open for ${longestMs / 1000} s`);
    try {
      this.#mustGoOn();
      return await work();
    } catch (error) {
      if (!isEnd(error)) throw error;
      const failure = lastFailure(error);
      await this.#lose(failure ? "its statement ran longer than the time limit" : "its server had ended it");
      if (failure) return stopped(failure);
      throw error instanceof AppError ? error : takenAway(this.lost ?? "its server had ended it");
    }
  }

  async #lose(why: string): Promise<void> {
    this.lost ??= why;
    await this.#end();
  }

  #mustGoOn(): void {
    if (this.lost !== null) throw takenAway(this.lost);
    if (this.#isOver) throw takenAway("it has ended");
  }

  async #end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#stream.end();
    this.#records.undone();
    await this.#dropSnapshot();
  }

  async #dropSnapshot(): Promise<void> {
    const { connection: { databaseId }, snapshots } = this.parts;
    const label = this.#snapshot;
    this.#snapshot = null;
    if (label !== null) await snapshots.dropUnused(databaseId, label);
  }

  get #nowMs(): number {
    return this.parts.connection.context.clock.now();
  }
}

/** Whether the transaction is over with the error. */
function isEnd(error: unknown): boolean {
  if (error instanceof AppError) return error.code === "transaction_timeout";
  return error instanceof RemoteFailure || error instanceof Stopped;
}

function throwIt(): never {
  throw takenAway("its statement ran longer than the time limit");
}

/** Guarantee: the text was sealed by a process of this service. */
function readResting(text: string): Resting {
  return JSON.parse(text);
}
