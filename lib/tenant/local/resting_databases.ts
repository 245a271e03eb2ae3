// Puts databases to rest that have not been written for a while: their write-ahead logs are folded into their files and taken
// away (`child/log_form.ts`). Who opens a file reads all of its log first, and a log takes up to half a megabyte of the disk.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { Clock } from "../../core/clock.ts";
import { isId } from "../../core/ids.ts";
import { isIdle } from "./pool/child_slot.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { Scheduler } from "./pool/scheduler.ts";

/** Milliseconds between two rounds: others than those between rounds of log rows, which keep children busy. */
export const LOOK_MS = 100;
/** Milliseconds of each that this takes at most, one database after the other: some 2 ms for each where syncs are quick. */
const ROUND_MS = 25;
/** Milliseconds since its last write after which a database rests. */
const REST_MS = 60_000;
/** Milliseconds by which a database may be late until children that are never without work put it to rest too, one each round. */
const LATE_MS = 240_000;
/** Databases that are remembered; one that is forgotten comes to rest once it has been written again. */
const MAX_WRITTEN = 100_000;
const LOG = ".db-wal";

/** What this needs of the store. */
export interface RestingDatabasesOptions {
  /** Where there is an archive, it reads the logs before it folds them. */
  readonly host: Pick<DatabaseHost, "lookups" | "task"> & {
    readonly lanes: (database: DatabaseIds) => {
      readonly mayEnd: boolean;
      readonly writes: { givesWay: boolean };
    };
    readonly transactions: Pick<DatabaseHost["transactions"], "closeEverywhere">;
    readonly archive: unknown;
  };
  readonly scheduler: Parameters<typeof isIdle>[0] & Pick<Scheduler, "closeEverywhere" | "stopping">;
  /** The folder of the databases' files. */
  readonly tenants: string;
  readonly clock: Clock;
}

/** The databases that may have a log. */
export class RestingDatabases {
  /** When each was written last, the longest unwritten first; those that an earlier process has left stand where they were found. */
  readonly #writtenMs = new Map<string, number>();
  readonly #startedMs: number;
  /** The look for logs that were left; null: it has not begun. */
  #look: Promise<void> | null = null;
  #ending: string | null = null;
  #inRound = false;

  constructor(private readonly options: RestingDatabasesOptions) {
    this.#startedMs = options.clock.monotonicMs();
  }

  /**
   * A database may have been written. `isLog`: only rows of its query log were, which come as long as somebody reads it; they
   * do not keep it from resting.
   */
  note(databaseId: string, isLog = false): void {
    // To put it to rest is no reason to do it again.
    if (databaseId === this.#ending || (isLog && this.#writtenMs.has(databaseId))) return;
    this.#writtenMs.delete(databaseId);
    this.#writtenMs.set(databaseId, this.options.clock.monotonicMs());
    if (this.#writtenMs.size <= MAX_WRITTEN) return;
    for (const oldest of this.#writtenMs.keys()) return this.forget(oldest);
  }

  /** A database is gone. */
  forget(databaseId: string): void {
    this.#writtenMs.delete(databaseId);
  }

  /** To be called every `LOOK_MS`: puts some to rest, by a child that has nothing else to do. */
  async restSome(): Promise<void> {
    const { clock, host } = this.options;
    if (host.archive !== null || this.#inRound) return;
    this.#inRound = true;
    try {
      const startedMs = clock.monotonicMs();
      const restsMs = startedMs - REST_MS;
      if (this.#look === null && this.#startedMs <= restsMs) await (this.#look = this.#noteLeft());
      while (clock.monotonicMs() - startedMs < ROUND_MS && await this.#restOne(restsMs));
    } finally {
      this.#inRound = false;
    }
  }

  /** False: there is none, or children have something else to do. */
  async #restOne(restsMs: number): Promise<boolean> {
    const { host, scheduler } = this.options;
    const [oldest] = this.#writtenMs;
    if (oldest === undefined || scheduler.stopping) return false;
    const [databaseId, writtenMs] = oldest;
    const wasIdle = isIdle(scheduler);
    if (writtenMs > (wasIdle ? restsMs : restsMs - LATE_MS)) return false;
    this.#writtenMs.delete(databaseId);
    const lanes = host.lanes({ databaseId, namespaceId: "" });
    if (!lanes.mayEnd) {
      this.note(databaseId);
      return true;
    }
    lanes.writes.givesWay = false;
    this.#ending = databaseId;
    let rests = true;
    try {
      // It is opened again by whoever reads it next, or begins a transaction in it.
      host.lookups?.close(databaseId);
      // Nobody's work ends for it, however long that takes.
      await Promise.all([
        scheduler.closeEverywhere(databaseId, Infinity),
        host.transactions.closeEverywhere(databaseId),
      ]);
      const { reply } = await host.task({ op: "rest", db: databaseId }, "write", "");
      rests = reply.t === "rested" && reply.rests;
    } catch {
      // It was deleted meanwhile, or the disk is full: its log stays until it has been written again.
    } finally {
      this.#ending = null;
    }
    // Nothing can be done beside whoever has it open.
    if (!rests) this.note(databaseId);
    return wasIdle;
  }

  /** Once the store stops nothing more is begun. Resolves when nothing is looked for any more. */
  async close(): Promise<void> {
    await this.#look;
  }

  /** Those that an earlier process has left come first. */
  async #noteLeft(): Promise<void> {
    const left: string[] = [];
    try {
      await this.#findLeft(left);
    } catch {
      // The logs of the others stay until they have been written again.
    }
    const written = [...this.#writtenMs];
    this.#writtenMs.clear();
    for (const databaseId of left) this.#writtenMs.set(databaseId, this.#startedMs);
    for (const [databaseId, writtenMs] of written) {
      this.#writtenMs.delete(databaseId);
      this.#writtenMs.set(databaseId, writtenMs);
    }
  }

  async #findLeft(left: string[]): Promise<void> {
    const { tenants, scheduler } = this.options;
    for await (const { name: folder, isDirectory } of Deno.readDir(tenants)) {
      if (!isDirectory) continue;
      for await (const { name } of Deno.readDir(`${tenants}/${folder}`)) {
        if (scheduler.stopping || this.#writtenMs.size + left.length >= MAX_WRITTEN) return;
        const databaseId = name.slice(0, -LOG.length);
        if (!name.endsWith(LOG) || !isId("db", databaseId)) continue;
        left.push(databaseId);
      }
    }
  }
}
