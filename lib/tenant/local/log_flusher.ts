// Brings the log rows of reads into their tables. They wait in memory and in the spool until there are many of them, or
// somebody reads the log, or writes: to open a database's file for each read's row would cost far more than the read.
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { DatabaseLanes, GROUP_LOG_ROWS } from "./database_lanes.ts";
import type { DatabaseHost } from "./database_host.ts";
import { LogBudget } from "../log_budget.ts";
import { LogBuffer } from "../log_buffer.ts";
import { LogPrunings, type LogPruningsOptions } from "./log_prunings.ts";
import type { LogSpool } from "./log_spool.ts";
import { packLogRows } from "./wire.ts";

/** What this needs of the store. */
export interface LogFlusherOptions extends LogPruningsOptions {
  readonly host: Pick<DatabaseHost, "isQuiet" | "lanes" | "lookups" | "task">;
  readonly spool: LogSpool;
  readonly log: Log;
}

/** Failures that may end by themselves or after a restore, and milliseconds until the next attempt. */
const WAITED_FOR: ReadonlySet<string> = new Set(["storage_full", "database_corrupt"]);
const RETRY_MS = 2_000;
/** So many rows of a database are worth a transaction of their own. */
const MANY_ROWS = 64;
/** Databases whose rows are moved at a time, when others' work waits as well. */
const MOVED_AT_ONCE = 4;
/** Rows are moved from so full a spool, or memory of those that wait, on. */
const MOVES_FROM = 1 / 2;
/** From here on so many are moved at a time, because rows that find no room in the spool disturb everybody. */
const HURRIES_FROM = 3 / 4;
const HURRIED_AT_ONCE = 16;
/** How often it does so, at most, between two looks at what has come since. */
const TURNS = 8;
/** Databases whose rows go into the spool in one turn of the event loop: some 0.3 ms. */
const SPOOLED_A_TURN = 100;
/** Milliseconds without other work after which the spool is emptied. */
const QUIET_MS = 1000;

/** Writes the waiting log rows of all databases. */
export class LogFlusher {
  readonly #prunings: LogPrunings;
  /** Of the rows that wait. */
  readonly #budget = new LogBudget();
  /** Those with rows of which something may be to be done. */
  readonly #noted = new Set<DatabaseLanes>();
  /** Those whose rows are to go into their tables, and those whose rows are being written. */
  readonly #due = new Set<DatabaseLanes>();
  readonly #writing = new Set<DatabaseLanes>();
  /** Those whose rows could not be written since the last look: a store that is away is not to take all that come. */
  readonly #failed = new Set<DatabaseLanes>();
  /** Those whose rows are to go into the spool. */
  #few: DatabaseLanes[] = [];
  #spoolTimer: ReturnType<typeof setTimeout> | undefined;
  #busyMs = -Infinity;
  #shortening = false;
  #moving = 0;

  constructor(private readonly options: LogFlusherOptions) {
    this.#prunings = new LogPrunings(options);
  }

  /** Lanes whose rows are looked after here. */
  newLanes(databaseId: string, namespaceId: string): DatabaseLanes {
    const settled = () => this.options.spool.settled(databaseId);
    const log = new LogBuffer(this.options.logBytes, this.#budget, settled, () => this.#note(lanes));
    const lanes = new DatabaseLanes(databaseId, namespaceId, log);
    return lanes;
  }

  /** A frame full of rows goes at once: the longer rows wait, the more of them the collector of garbage has to copy. */
  #note(lanes: DatabaseLanes): void {
    this.#noted.add(lanes);
    if (lanes.log.length < GROUP_LOG_ROWS || this.#failed.has(lanes)) return;
    if (this.#due.has(lanes) || this.#writing.has(lanes)) return;
    this.#due.add(lanes);
    this.#flushDue();
  }

  /**
   * Writes the log rows that wait for this database; resolves when a statement would see them, or none can be written
   * for the time being.
   */
  async flush(lanes: DatabaseLanes): Promise<void> {
    if (this.options.clock.monotonicMs() < lanes.logRetryMs) return;
    // Rows that somebody else is writing at this moment have left the buffer but are not in the table yet.
    const underWay = lanes.logFlush;
    lanes.logFlush = Promise.all([underWay, this.#writeRows(lanes)]);
    await lanes.logFlush;
  }

  /** To be called several times a second: what has come since is in the spool soon, or on its way into its table. */
  flushAll(): void {
    const nowMs = this.options.clock.monotonicMs();
    const few: DatabaseLanes[] = [];
    this.#failed.clear();
    for (const lanes of this.#noted) {
      const { log } = lanes;
      if (lanes.dropped || !(log.hasUnspooled || log.isTooLarge)) {
        this.#noted.delete(lanes);
        continue;
      }
      const isDue = log.isTooLarge || (log.hasUnspooled && log.length >= MANY_ROWS);
      const isWaiting = this.#due.has(lanes);
      if (isDue && this.#mayWrite(lanes, nowMs)) this.#due.add(lanes);
      if (log.hasUnspooled && (isWaiting || !this.#due.has(lanes))) few.push(lanes);
    }
    this.#few = few;
    this.#spoolSome();
    this.#flushDue();
    if (!this.options.host.isQuiet) this.#busyMs = nowMs;
    void this.#shorten();
  }

  /** At the end of the store: starts to write rows of some databases; false when there is nothing left to write. */
  move(all: Iterable<DatabaseLanes>): boolean {
    // From now on this alone says whose turn it is, and for how long.
    this.#due.clear();
    const nowMs = this.options.clock.monotonicMs();
    for (const lanes of all) {
      if (lanes.log.length === 0 || lanes.dropped || nowMs < lanes.logRetryMs) continue;
      if (this.#moving >= MOVED_AT_ONCE) break;
      this.#moving++;
      void this.flush(lanes).finally(() => this.#moving--);
    }
    return this.#moving > 0;
  }

  /** What is in no table by now is left to the next process. */
  async close(all: Iterable<DatabaseLanes>): Promise<void> {
    clearTimeout(this.#spoolTimer);
    this.#toSpool([...all].filter(isUnspooled));
    await this.options.spool.close();
  }

  /** Those of thousands of databases in one go would take milliseconds, in which nobody is answered. */
  #spoolSome(): void {
    clearTimeout(this.#spoolTimer);
    const some = this.#few.splice(0, SPOOLED_A_TURN).filter(isUnspooled);
    if (!this.#toSpool(some)) { for (const lanes of some) void this.flush(lanes); }
    if (this.#few.length > 0) this.#spoolTimer = setTimeout(() => this.#spoolSome(), 1);
  }

  /** A few at a time: many at once would have all children work for nobody who waits. */
  #flushDue(): void {
    const nowMs = this.options.clock.monotonicMs();
    const most = this.#fullness > HURRIES_FROM ? HURRIED_AT_ONCE : MOVED_AT_ONCE;
    for (const lanes of this.#due) {
      if (this.#writing.size >= most) return;
      this.#due.delete(lanes);
      if (lanes.dropped || !this.#mayWrite(lanes, nowMs)) continue;
      this.#writing.add(lanes);
      void this.flush(lanes).finally(() => {
        this.#writing.delete(lanes);
        this.#note(lanes);
        this.#flushDue();
      });
    }
  }

  /** A transaction that holds the write slot would have to give it up for rows of reads. */
  #mayWrite({ logRetryMs, writes }: DatabaseLanes, nowMs: number): boolean {
    return nowMs >= logRetryMs && writes.lease === null;
  }

  /** Puts the rows into the spool; false: they could not be put there. */
  #toSpool(some: readonly DatabaseLanes[]): boolean {
    if (some.length === 0) return true;
    const spooled = this.options.spool.append(
      some.map(({ databaseId, namespaceId, log }) => ({ databaseId, namespaceId, rows: log.unspooled })),
    );
    if (spooled) { for (const { log } of some) log.noteSpooled(); }
    return spooled;
  }

  get #fullness(): number {
    return Math.max(this.options.spool.fullness, this.#budget.fullness);
  }

  /** Moves the oldest rows of the spool into their tables: when it is half full, or nothing else is to be done. */
  async #shorten(): Promise<void> {
    const { clock } = this.options;
    if (this.#shortening) return;
    this.#shortening = true;
    try {
      for (let turn = 0; turn < TURNS && this.#fullness > MOVES_FROM; turn++) {
        await this.#moveSome(this.#fullness > HURRIES_FROM ? HURRIED_AT_ONCE : MOVED_AT_ONCE);
      }
      if (clock.monotonicMs() - this.#busyMs >= QUIET_MS) await this.#moveSome(1);
    } finally {
      this.#shortening = false;
    }
  }

  /** Any of those with the oldest rows: one that cannot be written is not to keep the others waiting. */
  async #moveSome(most: number): Promise<void> {
    const { oldest } = this.options.spool;
    const first = Math.floor(Math.random() * Math.max(1, oldest.length - most + 1));
    await Promise.all(oldest.slice(first, first + most).map((databaseId) => this.#moveOne(databaseId)));
  }

  async #moveOne(databaseId: string): Promise<void> {
    const { host, spool } = this.options;
    const lanes = host.lanes(databaseId, "");
    if (lanes.writes.lease !== null) return;
    await this.flush(lanes);
    // Rows that cannot be written for the time being move on within the spool, so that its files come to their end.
    const { log } = lanes;
    if (lanes.idle) return spool.settled(databaseId);
    if (log.length === 0 || log.hasUnspooled || !spool.isInOlder(databaseId)) return;
    log.noteUnspooled();
    if (this.#toSpool([lanes])) spool.leaveOlder(databaseId);
    else log.noteSpooled();
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
          prune: this.#prunings.next(lanes),
          held: host.lookups?.isOpen(lanes.databaseId) ?? false,
        }, "write");
        lanes.log.settle(rows);
      } catch (error) {
        this.#failed.add(lanes);
        const code = error instanceof AppError ? error.code : "internal";
        if (WAITED_FOR.has(code)) {
          lanes.logRetryMs = this.options.clock.monotonicMs() + RETRY_MS;
          lanes.log.putBack(rows);
        } else lanes.log.settle(rows);
        log("warn", "log_rows_not_written", { rows: rows.length, code });
        return;
      }
    }
  }
}

function isUnspooled({ log, dropped }: DatabaseLanes): boolean {
  return log.hasUnspooled && !dropped;
}
