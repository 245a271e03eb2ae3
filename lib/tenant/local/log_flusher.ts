// Writes the log rows of reads: they wait a little, so that many are written in one transaction without an fsync.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { idFloor } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import type { LogPruning } from "../../sql/log_pruning.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { DatabaseHost } from "./database_host.ts";
import { packLogRows } from "./wire.ts";

/** What this needs of the store. */
export interface LogFlusherOptions {
  readonly host: DatabaseHost;
  readonly clock: Clock;
  readonly log: Log;
  /** Days that log and audit rows are kept. */
  readonly logDays: number;
  /** Bytes that the query log and the calls may have together in one database. */
  readonly logBytes: number;
}

/** Milliseconds between two prunings of one database's log. */
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Failures that may end by themselves or after a restore, and milliseconds until the next attempt. */
const WAITED_FOR: ReadonlySet<string> = new Set(["storage_full", "database_corrupt"]);
const RETRY_MS = 2_000;

/** Writes the waiting log rows of all databases. */
export class LogFlusher {
  /**
   * When each database's log was pruned in the last hour, by the counter that no setting of the clock moves; oldest
   * first.
   */
  readonly #pruned = new Map<string, number>();

  constructor(private readonly options: LogFlusherOptions) {}

  /**
   * Writes the log rows that wait for this database; resolves when a statement would see them, or none can be written
   * for the time being.
   */
  async flush(lanes: DatabaseLanes): Promise<void> {
    if (this.options.clock.monotonicMs() < lanes.logRetryMs) return;
    // Rows that somebody else is writing at this moment have left the buffer but are not in the table yet.
    const underWay = lanes.logFlush;
    const own = this.#writeRows(lanes);
    lanes.logFlush = Promise.all([underWay, own]);
    await lanes.logFlush;
  }

  /** Starts writing for every database with waiting rows. */
  flushAll(all: Iterable<DatabaseLanes>): void {
    for (const lanes of all) {
      if ((lanes.log.length > 0 || lanes.log.isTooLarge) && !lanes.dropped) void this.flush(lanes);
    }
  }

  async #writeRows(lanes: DatabaseLanes): Promise<void> {
    const { host, log } = this.options;
    // A write group under way may also carry rows; an empty task after it shows when they are in the table.
    let waits = !lanes.writeSlotFree;
    // Rows that arrive meanwhile wait for the next round, because a busy database would otherwise write them one by one.
    let left = lanes.log.length;
    while (waits || left > 0 || lanes.log.isTooLarge) {
      waits = false;
      const rows = lanes.takeLogRows();
      left = rows.length === 0 ? 0 : left - rows.length;
      try {
        await host.task(lanes.databaseId, lanes.namespaceId, {
          op: "log",
          db: lanes.databaseId,
          logRows: packLogRows(rows),
          prune: this.#prune(lanes),
        }, "write");
      } catch (error) {
        const code = error instanceof AppError ? error.code : "internal";
        if (WAITED_FOR.has(code)) {
          lanes.log.putBack(rows);
          lanes.logRetryMs = this.options.clock.monotonicMs() + RETRY_MS;
        }
        log("warn", "log_rows_not_written", { rows: rows.length, code });
        return;
      }
    }
  }

  #prune({ databaseId, log }: DatabaseLanes): LogPruning | null {
    const { clock, logDays, logBytes } = this.options;
    const isDue = !this.#prunedLately(databaseId);
    if (!isDue && !log.isTooLarge) return null;
    const cuts = log.takeCuts();
    if (!isDue) return { beforeId: null, cuts, maxBytes: null, nowMs: null };
    this.#pruned.set(databaseId, clock.monotonicMs());
    const nowMs = clock.now();
    return { beforeId: idFloor("qry", nowMs - logDays * DAY_MS), cuts, maxBytes: logBytes / 2, nowMs };
  }

  #prunedLately(databaseId: string): boolean {
    const sinceMs = this.options.clock.monotonicMs() - PRUNE_MS;
    for (const [id, prunedMs] of this.#pruned) {
      if (prunedMs > sinceMs) break;
      this.#pruned.delete(id);
    }
    return this.#pruned.has(databaseId);
  }
}
