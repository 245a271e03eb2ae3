// Writes log rows of reads into the tables of their databases, and deletes there what is too old or too much.
import { AppError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { LogValues } from "../../log_columns.ts";
import type { LaneHost } from "../lanes/lane_host.ts";
import type { KeyLookups } from "../lookups/key_lookups.ts";
import { type DatabaseLanes, GROUP_LOG_ROWS } from "../lanes/database_lanes.ts";
import { LogPrunings, type LogPruningsOptions } from "./log_prunings.ts";
import { packLogRows } from "../frames/wire.ts";

/** What this needs of the store. */
export interface LogTablesOptions extends LogPruningsOptions {
  readonly host: Pick<LaneHost, "task"> & { readonly lookups: KeyLookups | null };
  readonly log: Log;
}

/** Failures that may end by themselves or after a restore, and milliseconds until the next attempt. */
const WAITED_FOR: ReadonlySet<string> = new Set(["storage_full", "database_corrupt"]);
const RETRY_MS = 2_000;

/** The log tables of all databases. */
export class LogTables {
  /** Those whose rows could not be written since this was cleared: a store that is away is not to take all that come. */
  readonly failed = new Set<DatabaseLanes>();
  readonly #prunings: LogPrunings;

  constructor(private readonly options: LogTablesOptions) {
    this.#prunings = new LogPrunings(options);
  }

  /** Writes the rows that wait, in so many frames at most. `isAwaited`: somebody waits for them. */
  async write(
    lanes: DatabaseLanes,
    { frames, isAwaited }: { readonly frames: number; readonly isAwaited: boolean },
  ): Promise<void> {
    // A write group under way may also carry rows; an empty task after it shows when they are in the table.
    let waits = !lanes.writeSlotFree;
    // Rows that arrive meanwhile wait for the next round, because a busy database would otherwise write them one by one.
    let left = lanes.log.length;
    let before = Promise.resolve(true);
    for (let count = 0; count < frames && (waits || left > 0); count++) {
      waits = false;
      const rows = lanes.log.take(GROUP_LOG_ROWS);
      left = rows.length === 0 ? 0 : left - rows.length;
      const next = this.#write(lanes, rows, { isAwaited, more: left > 0 && count < frames - 1 });
      // While the child writes one frame that somebody waits for, the next one is made.
      const wrote = await (isAwaited ? before : next);
      before = next;
      if (!wrote) break;
    }
    await before;
  }

  /** Deletes a part of what is too much by now. */
  async prune(lanes: DatabaseLanes): Promise<void> {
    await this.#write(lanes, [], { isAwaited: false, more: false });
  }

  /** Writes rows, and deletes what is too old or too much by now. `more`: others follow. False: that has failed. */
  async #write(
    lanes: DatabaseLanes,
    rows: readonly LogValues[],
    { isAwaited, more }: { readonly isAwaited: boolean; readonly more: boolean },
  ): Promise<boolean> {
    const { host, log } = this.options;
    const prune = this.#prunings.next(lanes);
    try {
      const { reply } = await host.task(
        {
          op: "log",
          db: lanes.databaseId,
          logRows: packLogRows(rows),
          prune,
          held: !isAwaited && (host.lookups?.isOpen(lanes.databaseId) ?? false),
          folds: !isAwaited,
          more,
        },
        "write",
        lanes.namespaceId,
      );
      lanes.log.settle(rows);
      if (prune !== null && reply.t === "done" && !reply.left) lanes.log.noteDeleted(prune.cuts);
      return true;
    } catch (error) {
      this.failed.add(lanes);
      const code = error instanceof AppError ? error.code : "internal";
      if (WAITED_FOR.has(code)) {
        lanes.logRetryMs = this.options.clock.monotonicMs() + RETRY_MS;
        lanes.log.putBack(rows);
      } else lanes.log.settle(rows);
      log("warn", "log_rows_not_written", { rows: rows.length, code });
      return false;
    }
  }
}
