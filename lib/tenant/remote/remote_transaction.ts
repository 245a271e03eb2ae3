// A transaction over several calls in a remote store. It rests in the server's stream, so that any process goes on with it.
import { AppError } from "../../core/errors.ts";
import { transactionLimits } from "../../core/limits_of_transactions.ts";
import { quoteIdentifier } from "../../sql/quote.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import { failedOutcome } from "../calls/call_run.ts";
import type { InspectedStatement, Inspection } from "../inspection.ts";
import { readOnlyOutcome } from "../read_only_outcome.ts";
import type { SchemaNames, TenantCall, TenantOutcome, TenantTransaction } from "../tenant_store.ts";
import { type SavepointVerb, takenAway, type TransactionOptions } from "../transaction_control.ts";
import { type RestingRecords, TransactionRecords } from "../transaction_records.ts";
import { findCommitted } from "./find_committed.ts";
import type { SchemaGate } from "./gate/schema_gate.ts";
import { closeComments } from "./gate/sent_text.ts";
import { Stopped } from "./hrana/deadline.ts";
import { all, ifOk, not, type StepResult } from "./hrana/hrana.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { stepFailure } from "./hrana/step_failure.ts";
import { chain, StepList } from "./hrana/step_list.ts";
import { addLogRows } from "./record_steps.ts";
import type { RemoteConnection } from "./remote_connection.ts";
import type { RemoteSnapshots } from "./remote_snapshots.ts";
import { dryInside, lastFailure, readInside, schemaInside, writeInside } from "./run_inside.ts";
import type { TenantLog } from "./tenant_log.ts";
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
  /** The engine's version of the schema that it began with, and what is added to it. */
  readonly schema: readonly [engineVersion: number, base: number] | null;
  readonly changed: boolean;
  readonly snapshot: string | null;
  readonly records: RestingRecords;
}

/** One transaction. The server bounds how long it may be idle, and how long it may hold others up. */
export class RemoteTransaction implements TenantTransaction {
  lost: string | null = null;
  #isOver = false;
  #begunMs: number | null;
  #schema: Resting["schema"];
  #changed: boolean;
  /** The schema as the transaction sees it; null: to be read. */
  #gate: SchemaGate | null = null;
  #snapshot: string | null;
  readonly #stream: TransactionStream;
  readonly #records: TransactionRecords;

  constructor(private readonly parts: RemoteTransactionParts, private readonly options: TransactionOptions) {
    const { connection, log } = parts;
    const rested = options.rested === undefined ? null : readResting(options.rested);
    this.#begunMs = rested?.begunMs ?? null;
    this.#schema = rested?.schema ?? null;
    this.#changed = rested?.changed ?? false;
    this.#snapshot = rested?.snapshot ?? null;
    const mode = options.mode === "readonly" ? "read" : "write";
    this.#stream = new TransactionStream(connection, mode, rested?.stream ?? null);
    this.#records = new TransactionRecords(log, connection.context.clock, rested?.records);
  }

  get begun(): boolean {
    return this.#begunMs !== null;
  }

  get ended(): boolean {
    return this.#isOver && this.lost === null;
  }

  async inspect(statements: readonly InspectedStatement[]): Promise<Inspection> {
    return (await this.#inTime(() => this.#gateNow())).inspect(statements);
  }

  async schema(): Promise<SchemaNames> {
    const gate = await this.#inTime(() => this.#gateNow());
    return { schemaVersion: gate.version, tables: gate.tables() };
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
    if (this.#stream.wrote) return await this.#commit();
    await this.rollback();
    return null;
  }

  async rollback(): Promise<void> {
    this.#mustGoOn();
    await this.#end();
  }

  async savepoint(verb: SavepointVerb, name: string): Promise<EngineFailure | null> {
    this.#mustGoOn();
    const [depth, at] = this.#records.depthOf(name);
    const failure = await this.#inTime(async () => {
      if (!this.begun) await this.#beginAtOnce();
      const sql = `${verb.toUpperCase()} ${quoteIdentifier(name)}`;
      const [step = null] = await this.#stream.send([{ stmt: { sql } }], false);
      if (step === null) throw new RemoteFailure("lost_stream");
      return step.ok ? null : stepFailure(step);
    });
    if (failure !== null) return failure;
    if (verb === "release") this.#stream.released(Math.min(depth, at));
    if (verb === "rollback to") this.#stream.rolledBackTo(at);
    if (verb === "rollback to" && this.#changed) this.#gate = null;
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
      schema: this.#schema,
      changed: this.#changed,
      snapshot: this.#snapshot,
      records: this.#records.resting,
    };
    return JSON.stringify(resting);
  }

  async #run(call: TenantCall): Promise<TenantOutcome> {
    const gateOf = await this.#gateNow();
    if (call.schemaVersion !== gateOf.version) return { ok: "stale", schemaVersion: gateOf.version };
    const writes = call.level !== "read";
    if (call.snapshot !== null) await this.parts.snapshots.take(this.parts.connection, call.snapshot);
    const begun = this.begun ? null : await this.#begin(gateOf, writes || this.options.mode === "immediate");
    if (begun !== null) return begun;
    const { signal } = call;
    const inside = { call, gate: gateOf.gate(call), stream: this.#stream, signal: signal() };
    const [depth] = this.#records.depthOf("");
    if (call.dryRun) return await dryInside(inside, depth, gateOf);
    if (!writes) return await readInside(inside);
    const { outcome, gone } = await writeInside(inside, depth);
    if (gone) await this.#end();
    if (call.level === "schema") {
      this.#changed = true;
      this.#gate = null;
    }
    if (call.snapshot !== null) await this.#noteSnapshot(call.snapshot, outcome);
    return outcome;
  }

  async #noteSnapshot(label: string, outcome: TenantOutcome): Promise<void> {
    if (outcome.ok === true) this.#snapshot = label;
    else await this.parts.snapshots.dropUnused(this.parts.connection.databaseId, label);
  }

  /** Null: it has begun. */
  async #begin(
    { schema: { engineVersion }, version }: SchemaGate,
    writes: boolean,
  ): Promise<TenantOutcome | null> {
    const begun = await this.#stream.begin(writes ? "BEGIN IMMEDIATE" : "BEGIN", engineVersion, null);
    if (begun.k === "refused") return failedOutcome(stepFailure(begun.step), 0, 0);
    if (begun.k === "stale") {
      return { ok: "stale", schemaVersion: (await this.parts.connection.schemaGate()).version };
    }
    this.#begunMs = this.#nowMs;
    this.#schema = [engineVersion, version - engineVersion];
    return null;
  }

  /** For a savepoint, which needs no schema. */
  async #beginAtOnce(): Promise<void> {
    const gate = await this.parts.connection.freshSchemaGate();
    const refused = await this.#begin(gate, this.options.mode === "immediate");
    if (refused !== null) throw new AppError("database_busy");
  }

  async #gateNow(): Promise<SchemaGate> {
    if (this.#gate) return this.#gate;
    const known = await this.parts.connection.schemaGate();
    if (this.#schema === null) return known;
    const [engineVersion, base] = this.#schema;
    const isKnown = !this.#changed && known.version === base + engineVersion;
    return this.#gate = isKnown
      ? known
      : await schemaInside(this.parts.connection.context, this.#stream, base);
  }

  async #commit(): Promise<EngineFailure | null> {
    const { logRows, auditRows, firstId } = this.#records;
    const list = new StepList();
    this.#stream.closeInto(list);
    addLogRows(list, logRows);
    for (const row of auditRows) chain(list, "INSERT INTO _service_meta_audit VALUES (?,?,?,?,?,?,?,?)", row);
    const commit = list.add("COMMIT", ifOk(list.steps.length - 1));
    // A broken reference leaves the transaction open.
    for (const sql of ["ROLLBACK TO records", "RELEASE records"]) {
      list.add(sql, all(not(ifOk(commit)), ifOk(1)));
    }
    let steps: readonly StepResult[];
    try {
      steps = await this.#stream.send(list.steps, false);
    } catch (error) {
      if (!(error instanceof RemoteFailure) && !(error instanceof Stopped)) throw error;
      return await this.#askWhether(firstId);
    }
    const failed = steps.slice(1, commit + 1).find((step) => step?.ok === false);
    if (steps[commit]?.ok) this.#committed();
    else if (failed?.ok !== false) this.lost = "its server had ended it";
    const failure = failed?.ok === false ? stepFailure(failed) : null;
    if (failure?.kind !== "foreign_key_violation") await this.#end();
    if (this.lost !== null) throw takenAway(this.lost);
    return failure;
  }

  /** The answer to the commit was lost: the first log row in the database says whether it was made. */
  async #askWhether(firstId: string | null): Promise<null> {
    const { connection } = this.parts;
    const found = await findCommitted(connection, firstId === null ? [] : [firstId]);
    if (found !== null && found.size > 0) this.#committed();
    else this.lost = "its server did not commit it";
    await this.#end();
    if (found === null) throw new AppError("outcome_unknown");
    if (this.lost !== null) throw takenAway(this.lost);
    return null;
  }

  #committed(): void {
    this.#records.committed();
    this.#snapshot = null;
    if (this.#changed) this.parts.connection.forgetSchema();
  }

  /** Errors: `transaction_timeout` where the server has ended it, or could not be asked. */
  async #inTime<T>(
    work: () => Promise<T>,
    stopped: ((failure: EngineFailure) => T) | null = null,
  ): Promise<T> {
    this.#mustGoOn();
    if (this.#begunMs !== null && this.#nowMs - this.#begunMs >= transactionLimits.longestMs) {
      await this.#lose(`it was open for ${transactionLimits.longestMs / 1000} s`);
      this.#mustGoOn();
    }
    try {
      return await work();
    } catch (error) {
      const wasTaken = error instanceof AppError && error.code === "transaction_timeout";
      if (!(error instanceof RemoteFailure) && !(error instanceof Stopped) && !wasTaken) throw error;
      const failure = lastFailure(error);
      await this.#lose(
        failure === null ? "its server had ended it" : "its statement ran longer than the time limit",
      );
      if (failure !== null && stopped) return stopped(failure);
      throw wasTaken ? error : takenAway(this.lost ?? "its server had ended it");
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
    const snapshot = this.#snapshot;
    this.#snapshot = null;
    if (snapshot !== null) await this.parts.snapshots.dropUnused(this.parts.connection.databaseId, snapshot);
  }

  get #nowMs(): number {
    return this.parts.connection.context.clock.now();
  }
}

/** Guarantee: the text was sealed by a process of this service. */
function readResting(text: string): Resting {
  return JSON.parse(text);
}
