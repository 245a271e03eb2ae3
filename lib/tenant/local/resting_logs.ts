// Folds the write-ahead logs of databases at rest into their files: who opens a file reads all of its log first, and a log takes
// up to half a megabyte of the disk.
import type { Clock } from "../../core/clock.ts";
import { isId } from "../../core/ids.ts";
import { isIdle } from "./child_slot.ts";
import type { DatabaseHost } from "./database_host.ts";
import { sizeOf } from "./tenant_paths.ts";

/** Milliseconds between two logs that are folded in: others than those between rounds of log rows, which keep children busy. */
export const FOLD_MS = 100;
/** Milliseconds since its last write after which a database rests. */
const REST_MS = 60_000;
/** Databases that are remembered; of one that is forgotten the log is folded once it has been written again. */
const MAX_WRITTEN = 100_000;
const LOG = ".db-wal";

/** What this needs of the store. */
export interface RestingLogsOptions {
  /** Where there is an archive, it reads the logs before it folds them. */
  readonly host: Pick<DatabaseHost, "lanes" | "task"> & { readonly archive: unknown };
  readonly scheduler: Parameters<typeof isIdle>[0] & { readonly stopping: boolean };
  /** The folder of the databases' files. */
  readonly tenants: string;
  readonly clock: Clock;
}

/** The databases of which a log may be left. */
export class RestingLogs {
  /** When each was written last, the longest unwritten first; those that an earlier process has left stand where they were found. */
  readonly #writtenMs = new Map<string, number>();
  readonly #startedMs: number;
  /** The look for logs that were left; null: it has not begun. */
  #look: Promise<void> | null = null;
  #folding: string | null = null;

  constructor(private readonly options: RestingLogsOptions) {
    this.#startedMs = options.clock.monotonicMs();
  }

  /** A database may have been written. */
  note(databaseId: string): void {
    // To fold its log is no reason to do it again.
    if (databaseId === this.#folding) return;
    this.#writtenMs.delete(databaseId);
    this.#writtenMs.set(databaseId, this.options.clock.monotonicMs());
    if (this.#writtenMs.size <= MAX_WRITTEN) return;
    for (const oldest of this.#writtenMs.keys()) return this.forget(oldest);
  }

  /** A database is gone. */
  forget(databaseId: string): void {
    this.#writtenMs.delete(databaseId);
  }

  /** To be called every `FOLD_MS`: folds one log, some 2 ms of a child that has nothing else to do. */
  async foldOne(): Promise<void> {
    const { clock, host, scheduler } = this.options;
    if (host.archive !== null) return;
    const restsMs = clock.monotonicMs() - REST_MS;
    if (this.#look === null && this.#startedMs <= restsMs) await (this.#look = this.#noteLeft());
    const [oldest] = this.#writtenMs;
    if (oldest === undefined || this.#folding !== null || scheduler.stopping || !isIdle(scheduler)) return;
    const [databaseId, writtenMs] = oldest;
    if (writtenMs > restsMs) return;
    if (!host.lanes(databaseId, "").mayEnd) return this.note(databaseId);
    this.#writtenMs.delete(databaseId);
    this.#folding = databaseId;
    let isRead = false;
    try {
      const request = { op: "fold_all", db: databaseId, keeps: false } as const;
      const { reply } = await host.task(databaseId, "", request, "write");
      isRead = reply.t === "folded" && reply.frames !== null;
    } catch {
      // It was deleted meanwhile, or the disk is full: its log stays until it has been written again.
    } finally {
      this.#folding = null;
    }
    // The log cannot become empty while somebody reads it.
    if (isRead) this.note(databaseId);
  }

  /** Once the store stops nothing more is begun. Resolves when nothing is looked for any more. */
  async close(): Promise<void> {
    await this.#look;
  }

  /** Those that an earlier process has left. */
  async #noteLeft(): Promise<void> {
    const { tenants, scheduler } = this.options;
    try {
      for await (const { name: folder, isDirectory } of Deno.readDir(tenants)) {
        if (!isDirectory) continue;
        for await (const { name } of Deno.readDir(`${tenants}/${folder}`)) {
          if (scheduler.stopping || this.#writtenMs.size >= MAX_WRITTEN) return;
          const databaseId = name.slice(0, -LOG.length);
          if (!name.endsWith(LOG) || !isId("db", databaseId) || this.#writtenMs.has(databaseId)) continue;
          if (await sizeOf(`${tenants}/${folder}/${name}`) === 0) continue;
          this.#writtenMs.set(databaseId, this.#startedMs);
        }
      }
    } catch {
      // Their logs stay until they have been written again.
    }
  }
}
