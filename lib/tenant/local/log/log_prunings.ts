// Says what a database's log is to lose when rows are written into it: once an hour what is too old, and the oldest parts of
// one that has grown too large.
import { type Clock, DAY_MS, HOUR_MS } from "../../../core/clock.ts";
import { idFloor } from "../../../core/ids.ts";
import type { LogPruning } from "../../../sql/service/log_pruning.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";

/** How long rows stay, and how many. */
export interface LogPruningsOptions {
  readonly clock: Clock;
  /** Days that log and audit rows are kept. */
  readonly logDays: number;
  /** Bytes that the query log and the calls may have together in one database. */
  readonly logBytes: number;
}

/** Milliseconds between two prunings of one database's log. */
const PRUNE_MS = HOUR_MS;

/** The prunings of all databases' logs. */
export class LogPrunings {
  /** When each was pruned in the last hour, by the counter that no setting of the clock moves; oldest first. */
  readonly #pruned = new Map<string, number>();

  constructor(private readonly options: LogPruningsOptions) {}

  /** The pruning that goes with the next rows; null: none. */
  next({ databaseId, log }: Pick<DatabaseLanes, "databaseId" | "log">): LogPruning | null {
    const { clock, logDays, logBytes } = this.options;
    const isDue = !this.#wasPruned(databaseId);
    if (!isDue && !log.isTooLarge) return null;
    const { cuts } = log;
    if (!isDue) return { beforeId: null, cuts, maxBytes: null, nowMs: null };
    this.#pruned.set(databaseId, clock.monotonicMs());
    const nowMs = clock.now();
    return { beforeId: idFloor("qry", nowMs - logDays * DAY_MS), cuts, maxBytes: logBytes / 2, nowMs };
  }

  /** Whether it was in the last hour. */
  #wasPruned(databaseId: string): boolean {
    const sinceMs = this.options.clock.monotonicMs() - PRUNE_MS;
    for (const [id, prunedMs] of this.#pruned) {
      if (prunedMs > sinceMs) break;
      this.#pruned.delete(id);
    }
    return this.#pruned.has(databaseId);
  }
}
