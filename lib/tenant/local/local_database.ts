// One embedded database as the pipeline sees it.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type {
  InspectedStatement,
  Inspection,
  LogRow,
  ReplayFound,
  ReplayKeys,
  SchemaNames,
  TenantCall,
  TenantDatabase,
  TenantOutcome,
} from "../tenant_store.ts";
import type { Request } from "./child/protocol.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { ReplyFrame } from "./engine_child.ts";
import { logRow, replayFound, wireCall } from "./wire.ts";

/** The store's side of one database. */
export interface DatabaseHost {
  lanes(databaseId: string, namespaceId: string): DatabaseLanes;
  wake(lanes: DatabaseLanes): void;
  task(
    databaseId: string,
    namespaceId: string,
    request: Request,
    lane: "read" | "write",
  ): Promise<ReplyFrame>;
  flushLog(lanes: DatabaseLanes): Promise<void>;
}

export class LocalDatabase implements TenantDatabase {
  constructor(
    private readonly store: DatabaseHost,
    private readonly databaseId: string,
    private readonly namespaceId: string,
    private readonly clock: Clock,
  ) {}

  async inspect(statements: readonly InspectedStatement[]): Promise<Inspection> {
    const { reply } = await this.store.task(this.databaseId, this.namespaceId, {
      op: "inspect",
      db: this.databaseId,
      statements,
    }, "read");
    if (reply.t !== "inspected") throw new AppError("store_unavailable");
    return { schemaVersion: reply.v, facts: reply.facts, failure: reply.f };
  }

  async schema(): Promise<SchemaNames> {
    const { reply } = await this.store.task(this.databaseId, this.namespaceId, {
      op: "schema",
      db: this.databaseId,
    }, "read");
    if (reply.t !== "schema") throw new AppError("store_unavailable");
    return { schemaVersion: reply.v, tables: reply.tables };
  }

  run(call: TenantCall): Promise<TenantOutcome> {
    return call.readsLog ? this.#runAfterLog(call) : this.#enqueue(call);
  }

  record(row: LogRow): void {
    this.store.lanes(this.databaseId, this.namespaceId).addLogRow(logRow(row));
  }

  async findReplay(replay: ReplayKeys): Promise<ReplayFound | null> {
    const { reply, text } = await this.store.task(this.databaseId, this.namespaceId, {
      op: "find_replay",
      db: this.databaseId,
      replay,
    }, "read");
    if (reply.t !== "replay") throw new AppError("store_unavailable");
    return reply.found === null ? null : replayFound(reply.found, text);
  }

  async #runAfterLog(call: TenantCall): Promise<TenantOutcome> {
    await this.store.flushLog(this.store.lanes(this.databaseId, this.namespaceId));
    return await this.#enqueue(call);
  }

  #enqueue(call: TenantCall): Promise<TenantOutcome> {
    return new Promise((resolve, reject) => {
      const lanes = this.store.lanes(this.databaseId, this.namespaceId);
      lanes.addCall({
        call,
        wire: wireCall(call, this.clock),
        resolve,
        reject,
        queuedMs: this.clock.monotonicMs(),
        crashes: 0,
      });
      this.store.wake(lanes);
    });
  }
}
