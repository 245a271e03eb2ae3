// One embedded database as the pipeline sees it.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import type { RestoreOptions, SnapshotInfo } from "../snapshots.ts";
import type { ServiceStatement } from "../service_statement.ts";
import type { ReplayKeys } from "../stored_answer.ts";
import type { InspectedStatement } from "../../engine/compile_statement.ts";
import type { Inspection, InspectOptions, SchemaNames } from "../inspection.ts";
import type {
  LogIdentity,
  LogRow,
  ReplayFound,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
  TenantTransaction,
} from "../tenant_store.ts";
import type { TransactionOptions } from "../transaction_control.ts";
import type { Restored } from "../damage.ts";
import type { EndpointCallRow } from "../endpoint_call_row.ts";
import { endpointCallRow, logRow } from "../log_columns.ts";
import type { DatabaseRequest } from "./child/protocol.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import type { DatabaseLanes } from "./lanes/database_lanes.ts";
import type { LocalSnapshots } from "./local_snapshots.ts";
import { LocalTransaction } from "./local_transaction.ts";
import { replayFound, wireCall } from "./frames/wire.ts";

/** One database of this store. */
export class LocalDatabase implements TenantDatabase, DatabaseIds {
  readonly databaseId: string;
  readonly namespaceId: string;

  constructor(
    private readonly store: DatabaseHost,
    private readonly snapshotFiles: LocalSnapshots,
    { databaseId, namespaceId }: DatabaseIds,
    private readonly clock: Clock,
  ) {
    this.databaseId = databaseId;
    this.namespaceId = namespaceId;
  }

  get lanes(): DatabaseLanes {
    return this.store.lanes(this);
  }

  async inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    const { reply } = await this.#task({
      op: "inspect",
      db: this.databaseId,
      statements,
      foreignKeysOff: options?.foreignKeysOff ?? false,
      ...(options?.columns ? { columns: true } : {}),
    }, "read");
    if (reply.t === "failed") return { ...await this.inspect([]), failure: reply.f };
    if (reply.t !== "inspected") throw new AppError("store_unavailable");
    const { v: schemaVersion, facts, f: failure, schema } = reply;
    return { schemaVersion, schema, facts, failure, ...(reply.cols ? { columns: reply.cols } : {}) };
  }

  async schema(): Promise<SchemaNames> {
    const { reply } = await this.#task({ op: "schema", db: this.databaseId }, "read");
    if (reply.t !== "schema") throw new AppError("store_unavailable");
    return { schemaVersion: reply.v, tables: reply.tables };
  }

  run(call: TenantCall): Promise<TenantOutcome> {
    if (call.snapshot !== null) return this.#runAfterSnapshot(call);
    return this.store.lookups?.run(this, call) ??
      (call.readsLog ? this.#runAfterLog(call) : this.runInChild(call));
  }

  begin(options: TransactionOptions): TenantTransaction {
    const { store: host, snapshotFiles: snapshots, clock, lanes } = this;
    lanes.writes.giveWay();
    return new LocalTransaction({ host, snapshots, lanes, clock }, options);
  }

  beginInTurn(options: TransactionOptions, signal: AbortSignal | null): Promise<TenantTransaction> {
    const asking = { lanes: this.lanes, tokenId: options.tokenId, signal };
    return this.store.transactions.inTurn(asking, () => this.begin(options));
  }

  async noteReplay(replay: ReplayKeys): Promise<void> {
    const request = { op: "note_replay", db: this.databaseId, replay } as const;
    await this.#task(request, "write");
  }

  async write(statements: readonly ServiceStatement[]): Promise<void> {
    await this.#task({
      op: "internal",
      db: this.databaseId,
      statements: statements.map(({ sql, params }) => [sql, params] as const),
    }, "write");
  }

  snapshots(): Promise<SnapshotInfo[]> {
    return this.snapshotFiles.list(this.databaseId);
  }

  takeSnapshot(label: string): Promise<SnapshotInfo> {
    return this.snapshotFiles.take(this, label);
  }

  restore(
    label: string,
    more: RestoreOptions<LogIdentity>,
  ): Promise<Restored> {
    return this.snapshotFiles.restore(this, { label, ...more })
      .finally(() => this.store.commits.tell(this.databaseId));
  }

  compareSnapshot(label: string): Promise<RestoreEffect | null> {
    return this.snapshotFiles.compare(this, label);
  }

  record(row: LogRow): void {
    this.lanes.log.add(logRow(row));
  }

  recordEndpointCall(row: EndpointCallRow): void {
    this.lanes.log.add(endpointCallRow(row));
  }

  async findReplay(replay: ReplayKeys): Promise<ReplayFound | null> {
    const { reply, text } = await this.#task({
      op: "find_replay",
      db: this.databaseId,
      replay,
    }, "read");
    if (reply.t !== "replay") throw new AppError("store_unavailable");
    return reply.found === null ? null : replayFound(reply.found, text);
  }

  async #runAfterLog(call: TenantCall): Promise<TenantOutcome> {
    await this.store.flushLog(this.lanes);
    return await this.runInChild(call);
  }

  async #runAfterSnapshot(call: TenantCall): Promise<TenantOutcome> {
    const wire = wireCall(call, this.clock, this.store.statementMs);
    try {
      if (call.readsLog) await this.store.flushLog(this.lanes);
      return await this.snapshotFiles.withEarly(
        this.databaseId,
        wire.snapshot ?? "",
        (early) => this.runInChild(call, { ...wire, ...early }),
      );
    } finally {
      this.snapshotFiles.pruning.prune(this.databaseId);
    }
  }

  /** With the write slot, because whoever looks something up in a file at rest leaves it then. */
  async #wake(): Promise<void> {
    const request = { op: "wake", db: this.databaseId } as const;
    await this.#task(request, "write").catch(() => {});
  }

  #task(request: DatabaseRequest, lane: "read" | "write"): Promise<ReplyFrame> {
    return this.store.task(request, lane, this.namespaceId);
  }

  /** Queues a call for an engine child. */
  runInChild(
    call: TenantCall,
    wire = wireCall(call, this.clock, this.store.statementMs),
  ): Promise<TenantOutcome> {
    return new Promise((resolve, reject) => {
      const lanes = this.lanes;
      const changed = () => {
        if (call.level === "schema") this.store.lookups?.close(this.databaseId);
        this.store.commits.tell(this.databaseId);
      };
      lanes.addCall({
        call,
        wire,
        resolve: call.level === "read" ? resolve : (outcome) => {
          changed();
          resolve(outcome);
        },
        reject: (error) => {
          if (failedWith(error, "outcome_unknown")) changed();
          reject(error);
        },
        proven: (reads, schemaVersion = call.schemaVersion) =>
          this.store.lookups?.learn(this.databaseId, { ...call, schemaVersion }, reads),
        rests: () =>
          void this.#wake().finally(() =>
            this.runInChild(call, { ...wire, awake: true }).then(resolve, reject)
          ),
        queuedMs: this.clock.monotonicMs(),
        crashes: 0,
      });
      this.store.wake(lanes);
    });
  }
}
