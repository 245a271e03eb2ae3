// A transaction over several calls of one embedded database: its statements, its savepoints and its commit.
import { AppError } from "../../core/errors.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { InspectedStatement } from "../../engine/compile_statement.ts";
import type { Inspection, InspectOptions, SchemaNames } from "../inspection.ts";
import type { TenantCall, TenantOutcome, TenantTransaction } from "../tenant_store.ts";
import { readOnlyOutcome } from "../read_only_outcome.ts";
import { type SavepointVerb, takenAway, type TransactionOptions } from "../transaction_control.ts";
import { TransactionRecords } from "../log/transaction_records.ts";
import type { TransactionWork } from "./child/protocol.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { LocalSnapshots } from "./local_snapshots.ts";
import { type HoldParts, TransactionHold, whyEnded } from "./transactions/transaction_hold.ts";
import type { ChildEnded } from "./transactions/transaction_place.ts";
import { packLogRows, readOutcome, unfinished, wireCall } from "./frames/wire.ts";

/** What a transaction gets from its database. */
export interface LocalTransactionParts extends Omit<HoldParts, "onGone"> {
  readonly host: DatabaseHost;
  readonly snapshots: LocalSnapshots;
}

/** One transaction. */
export class LocalTransaction implements TenantTransaction {
  /** Something may have been written since the slot was taken. */
  #wrote = false;
  /** File name of the snapshot of the state before. */
  #snapshot: string | null = null;
  #dropped: Promise<void> = Promise.resolve();
  readonly #records: TransactionRecords;
  readonly #hold: TransactionHold;

  constructor(private readonly parts: LocalTransactionParts, private readonly options: TransactionOptions) {
    const { lanes, clock } = parts;
    if (lanes.dropped) throw new AppError("store_unavailable");
    if (options.rested !== undefined) throw takenAway("it is not of this process");
    this.#records = new TransactionRecords(lanes.log, clock);
    this.#hold = new TransactionHold({ ...parts, onGone: () => this.#undone() }, options);
  }

  get begun(): boolean {
    return this.#hold.begun;
  }

  get ended(): boolean {
    return this.#hold.isOver && this.lost === null;
  }

  get lost(): string | null {
    return this.#hold.lost;
  }

  async inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    const told = options?.columns ? { columns: true } as const : {};
    const { reply } = await this.#frame({ do: "inspect", statements, ...told });
    if (reply.t !== "inspected") throw new AppError("store_unavailable");
    const columns = reply.cols ? { columns: reply.cols } : {};
    return { schemaVersion: reply.v, facts: reply.facts, failure: reply.f, ...columns };
  }

  async schema(): Promise<SchemaNames> {
    const { reply } = await this.#frame({ do: "schema" });
    if (reply.t !== "schema") throw new AppError("store_unavailable");
    return { schemaVersion: reply.v, tables: reply.tables };
  }

  async run(call: TenantCall): Promise<TenantOutcome> {
    this.#hold.mustGoOn();
    const writes = call.level !== "read";
    const outcome = writes && this.options.mode === "readonly"
      ? readOnlyOutcome()
      : await this.#run(call, writes);
    this.#records.add(call, outcome);
    // A row that was added above is among those that stay of a transaction that the engine has ended.
    if (this.#hold.isOver) this.#records.undone();
    return outcome;
  }

  async commit(): Promise<EngineFailure | null> {
    this.#hold.mustGoOn();
    if (this.#wrote) return await this.#hold.committing(() => this.#commit());
    await this.#hold.rollBack();
    return null;
  }

  async rollback(): Promise<void> {
    this.#hold.mustGoOn();
    await this.#hold.rollBack();
    // Whoever is told of the end finds no snapshot of it.
    await this.#dropped;
  }

  async savepoint(verb: SavepointVerb, name: string): Promise<EngineFailure | null> {
    const sql = `${verb.toUpperCase()} ${quoteIdentifier(name)}`;
    const { reply } = await this.#frame({ do: "savepoint", sql });
    if (reply.t !== "transaction") throw new AppError("store_unavailable");
    if (reply.f === null) this.#records.savepoint(verb, name);
    return reply.f;
  }

  abandon(): void {
    this.#hold.abandon();
  }

  rest(): null {
    return null;
  }

  async #run(call: TenantCall, writes: boolean): Promise<TenantOutcome> {
    const { host, lanes, clock } = this.parts;
    // Later it sees nothing of what others write.
    if (call.readsLog && !this.begun) await host.flushLog(lanes);
    const startedMs = clock.monotonicMs();
    const wire = wireCall({ ...call, log: null, auditTables: null, replay: null }, clock, host.statementMs);
    const worked = await this.#hold.work({ do: "call", call: wire }, { writes, signal: call.signal() });
    if ("ended" in worked) return unfinishedCall(worked.ended, clock.monotonicMs() - startedMs);
    const { reply } = worked.frame;
    if (reply.t !== "transaction" || reply.o === null) throw await this.#hold.failed(worked.frame);
    const { outcome } = readOutcome(reply.o, worked.frame, 0);
    if (writes) this.#noteWrite(outcome, wire.snapshot ?? null);
    if (!reply.open) this.#hold.leave();
    return outcome;
  }

  #noteWrite(outcome: TenantOutcome, snapshot: string | null): void {
    if (outcome.ok === "stale") return;
    // Another writer has committed since the snapshot: the engine has given no lock, so the slot is of no use.
    const isOld = outcome.ok === false && outcome.failure.kind === "busy";
    if (isOld && !this.#wrote) return this.#hold.giveSlotBack();
    this.#wrote = true;
    if (snapshot !== null && outcome.ok === true) this.#snapshot = snapshot;
  }

  async #commit(): Promise<EngineFailure | null> {
    const { logRows, auditRows, change, firstId } = this.#records;
    const records = { logRows: packLogRows(logRows), auditRows, change: change.insert };
    const worked = await this.#hold.work({ do: "commit", ...records });
    if ("ended" in worked) return await this.#askWhether(firstId);
    const { reply } = worked.frame;
    if (reply.t !== "transaction") throw await this.#hold.failed(worked.frame);
    if (reply.open) return reply.f;
    if (reply.f === null) this.#committed();
    this.#hold.leave();
    return reply.f;
  }

  /** The child ended at the commit. A log row tells whether the commit is on the disk; nobody else writes meanwhile. */
  async #askWhether(id: string | null): Promise<null> {
    const { host, lanes: { databaseId, namespaceId } } = this.parts;
    try {
      const request = { op: "has_log", db: databaseId, ids: id === null ? [] : [id] } as const;
      const { reply } = await host.task(request, "read", namespaceId);
      if (reply.t !== "ids") throw new AppError("outcome_unknown");
      if (reply.ids.length > 0) this.#committed();
      else this.#hold.lost = "its engine ended before the commit";
    } catch {
      host.commits.tell(databaseId);
      throw new AppError("outcome_unknown");
    } finally {
      this.#hold.leave();
    }
    if (this.lost !== null) throw takenAway(this.lost);
    return null;
  }

  #committed(): void {
    this.#records.committed();
    this.parts.host.commits.tell(this.parts.lanes.databaseId);
    this.parts.host.wrote(this.parts.lanes.databaseId);
    if (this.#snapshot !== null) this.parts.snapshots.pruning.prune(this.parts.lanes.databaseId);
    this.#snapshot = null;
  }

  /** Nothing is left of it: what was not committed leaves its log rows, and needs no snapshot. */
  #undone(): void {
    this.#records.undone();
    if (this.#snapshot === null) return;
    this.#dropped = this.parts.snapshots.dropUnused(this.parts.lanes.databaseId, this.#snapshot);
  }

  async #frame(work: TransactionWork): Promise<ReplyFrame> {
    const worked = await this.#hold.work(work);
    if ("ended" in worked) throw takenAway(this.lost ?? whyEnded(worked.ended));
    if (worked.frame.reply.t === "failed" || worked.frame.reply.t === "missing") {
      throw await this.#hold.failed(worked.frame);
    }
    return worked.frame;
  }
}

/** The outcome of a call whose child ended: of its own doing, or else the transaction was taken away. */
function unfinishedCall(ended: ChildEnded, durationMs: number): TenantOutcome {
  const { ending } = ended;
  if (ending === "gone" || ending === "unexpected") throw takenAway(whyEnded(ended));
  return unfinished(ending === "timeout" ? "timeout" : "too_big", 0, Math.round(durationMs));
}
