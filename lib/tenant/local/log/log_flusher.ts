// Brings the log rows of reads into the spool, to its disk alone when they are many, and into their tables when somebody reads
// the log, room gets short, or there is nothing else to do: to write into a file for each read would cost far more.
import { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { LaneHost } from "../lanes/lane_host.ts";
import { LogBudget } from "../../log/log_budget.ts";
import { LogBuffer } from "../../log/log_buffer.ts";
import type { LogSpool } from "./log_spool.ts";
import type { NeededFiles } from "../../log/needed_files.ts";
import { WaitingPacks } from "./waiting_packs.ts";
import { LogTables, type LogTablesOptions } from "./log_tables.ts";

/** What this needs of the store. */
export interface LogFlusherOptions extends LogTablesOptions {
  readonly host: LogTablesOptions["host"] & Pick<LaneHost, "isQuiet" | "lanes">;
  readonly spool: LogSpool;
}

/** Databases whose rows are moved at a time, when others' work waits as well. */
const MOVED_AT_ONCE = 4;
/** Rows are left to the disk from so full lines of the spool, or memory of those that wait, on, and at an end from fewer. */
const PACKS_FROM = 3 / 8;
const PACKS_AT_END_FROM = 1 / 16;
/** Rows are moved from so many packs, lines, or memory on. */
const MOVES_FROM = 1 / 2;
/** From here on so many are moved at a time, because rows that find no room in the spool disturb everybody. */
const HURRIES_FROM = 3 / 4;
const HURRIED_AT_ONCE = 16;
/** How often it does so, at most, between two looks. */
const TURNS = 8;
/** So many rows of a database go into the spool at once: some 0.15 ms, in which nobody is answered. */
const SPOOLED_AT_ONCE = 64;
/** Databases whose rows go into the spool in one turn of the event loop: some 0.3 ms. */
const SPOOLED_A_TURN = 100;
/** Packs of a database that cannot be written move on within the spool, so many at a time: some 2 ms of work. */
const MOVED_ON_AT_ONCE = 4;
/** Milliseconds without other work after which the spool is emptied, and how much at a look: some 3 ms of work. */
const QUIET_MS = 1000;
const QUIET_FRAMES = 2;

/** Writes the waiting log rows of all databases. */
export class LogFlusher {
  readonly #tables: LogTables;
  readonly #packs: WaitingPacks;
  readonly #budget = new LogBudget();
  /** Those with rows of which something may be to be done. */
  readonly #noted = new Set<DatabaseLanes>();
  /** What is to be done: rows go into their table, or the table loses rows because it has too many. */
  readonly #due = new Map<DatabaseLanes, "rows" | "pruning">();
  /** Those of which that is being done. */
  readonly #writing = new Set<DatabaseLanes>();
  /** Whether the spool has refused rows since the last look: it is not asked for each further row. */
  #isRefused = false;
  /** Those whose rows are to go into the spool. */
  #some: DatabaseLanes[] = [];
  #spoolTimer: ReturnType<typeof setTimeout> | undefined;
  #busyMs = -Infinity;
  #shortening: Promise<void> | null = null;
  #packing: Promise<void> | null = null;
  #isClosing = false;
  #moving = 0;

  constructor(private readonly options: LogFlusherOptions) {
    this.#tables = new LogTables(options);
    this.#packs = new WaitingPacks(options, (lanes) => {
      if (lanes.log.repeatRefusals()) this.#toSpool([lanes]);
    });
  }

  /** Lanes whose rows are looked after here. */
  newLanes(databaseId: string, namespaceId: string): DatabaseLanes {
    const settled = (needed: NeededFiles) => this.options.spool.settled(databaseId, needed);
    const log = new LogBuffer(this.options.logBytes, this.#budget, settled, () => this.#note(lanes));
    const lanes = new DatabaseLanes(databaseId, namespaceId, log);
    return lanes;
  }

  /** Many go into the spool at once: the longer rows wait unpacked, the more of them the collector of garbage has to copy. */
  #note(lanes: DatabaseLanes): void {
    this.#noted.add(lanes);
    if (lanes.log.unspooledCount < SPOOLED_AT_ONCE || this.#tables.failed.has(lanes)) return;
    if (!this.#isRefused && this.#toSpool([lanes])) return;
    if (this.#due.get(lanes) === "rows" || this.#writing.has(lanes)) return;
    this.#due.set(lanes, "rows");
    this.#flushDue();
  }

  /** Writes the log rows that wait; resolves when a statement would see them, or none can be written for the time being. */
  async flush(lanes: DatabaseLanes): Promise<void> {
    await this.#write(lanes, { isAwaited: true });
  }

  async #write(lanes: DatabaseLanes, { frames = Infinity, isAwaited = false } = {}): Promise<void> {
    if (this.options.clock.monotonicMs() < lanes.logRetryMs) return;
    // Rows that somebody else is writing at this moment have left the buffer but are not in the table yet.
    const underWay = lanes.logFlush;
    const own = this.#tables.write(lanes, { frames, isAwaited });
    // A promise of both results would have that of the flush before in it, and so of every one since the start.
    lanes.logFlush = Promise.all([underWay, own]).then(() => {});
    await lanes.logFlush;
  }

  /** To be called several times a second: what has come since is in the spool soon, or on its way into its table. */
  flushAll(): void {
    const some: DatabaseLanes[] = [];
    this.#tables.failed.clear();
    this.#isRefused = false;
    for (const lanes of this.#noted) {
      const { log } = lanes;
      if (lanes.dropped || !(log.unspooledCount > 0 || log.isTooLarge)) {
        this.#noted.delete(lanes);
        continue;
      }
      if (log.isTooLarge && !this.#due.has(lanes)) this.#due.set(lanes, "pruning");
      if (log.unspooledCount > 0) some.push(lanes);
    }
    this.#some = some;
    this.#spoolSome();
    this.#flushDue();
    if (!this.options.host.isQuiet) this.#busyMs = this.options.clock.monotonicMs();
    // A database whose rows are being moved may take long, and packs are not to wait for it.
    this.#packing ??= this.#pack().finally(() => this.#packing = null);
    this.#shortening ??= this.#shorten().finally(() => this.#shortening = null);
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
    this.#isClosing = true;
    // What is being moved may wait for a statement that has no end.
    await this.#packing;
    clearTimeout(this.#spoolTimer);
    this.#toSpool([...all].filter(isUnspooled));
    // The next start need not read them.
    if (this.#fullness > PACKS_AT_END_FROM) await this.#packs.store();
    await this.options.spool.close();
  }

  /** Those of thousands of databases in one go would take milliseconds, in which nobody is answered. */
  #spoolSome(): void {
    clearTimeout(this.#spoolTimer);
    const some = this.#some.splice(0, SPOOLED_A_TURN).filter(isUnspooled);
    if (!this.#toSpool(some)) { for (const lanes of some) void this.#write(lanes); }
    if (this.#some.length > 0) this.#spoolTimer = setTimeout(() => this.#spoolSome(), 1);
    else this.options.spool.sync();
  }

  /** A few at a time: many at once would have all children work for nobody who waits. */
  #flushDue(): void {
    const nowMs = this.options.clock.monotonicMs();
    const most = this.#atOnce;
    for (const [lanes, what] of this.#due) {
      if (this.#writing.size >= most) return;
      this.#due.delete(lanes);
      // A transaction that holds the write slot would have to give it up for rows of reads.
      if (lanes.dropped || nowMs < lanes.logRetryMs || lanes.writes.lease !== null) continue;
      this.#writing.add(lanes);
      void (what === "rows" ? this.#write(lanes) : this.#tables.prune(lanes)).finally(() => {
        this.#writing.delete(lanes);
        this.#note(lanes);
        this.#flushDue();
      });
    }
  }

  /** Puts the rows into the spool; false: they could not be put there. */
  #toSpool(some: readonly DatabaseLanes[]): boolean {
    if (some.length === 0) return true;
    const file = this.options.spool.append(
      some.map(({ databaseId, namespaceId, log }) => ({ databaseId, namespaceId, rows: log.unspooled })),
    );
    this.#isRefused = file === null;
    if (file === null) return false;
    for (const { log } of some) log.noteSpooled(file);
    return true;
  }

  /** Databases that one look moves: the more, the further the room is beyond its half; reads wait for each of them. */
  get #toMove(): number {
    const part = (this.#movesFullness - MOVES_FROM) / (HURRIES_FROM - MOVES_FROM);
    return part <= 0 ? 0 : Math.ceil(Math.min(1, part * part) * TURNS * this.#atOnce);
  }

  get #atOnce(): number {
    return this.#movesFullness > HURRIES_FROM ? HURRIED_AT_ONCE : MOVED_AT_ONCE;
  }

  get #fullness(): number {
    return Math.max(this.options.spool.linesFullness, this.#budget.fullness);
  }

  get #movesFullness(): number {
    return Math.max(this.options.spool.packsFullness, this.#budget.storedFullness, this.#fullness);
  }

  async #pack(): Promise<void> {
    const { linesFullness, packsFullness } = this.options.spool;
    // Refused calls, which no pack has, would have a file of packs made for a few rows at each look.
    const fullness = Math.max(linesFullness, this.#budget.packedFullness);
    if (fullness > PACKS_FROM && packsFullness < 1) await this.#packs.store();
  }

  /** When packing is over, moves the oldest rows of the spool into their tables: where it is half full, or nothing else is to be done even then. */
  async #shorten(): Promise<void> {
    await this.#packing;
    for (let left = this.#toMove; left > 0; left -= this.#atOnce) {
      if (this.#movesFullness <= MOVES_FROM || this.#isClosing) break;
      await this.#moveSome(Math.min(left, this.#atOnce));
    }
    const { host: { isQuiet }, clock } = this.options;
    if (isQuiet && clock.monotonicMs() - this.#busyMs >= QUIET_MS) await this.#moveSome(1, QUIET_FRAMES);
  }

  /** Any of those with the oldest rows: one that cannot be written is not to keep the others waiting. */
  async #moveSome(most: number, frames = Infinity): Promise<void> {
    const { oldest } = this.options.spool;
    const first = Math.floor(Math.random() * Math.max(1, oldest.length - most + 1));
    await Promise.all(oldest.slice(first, first + most).map((id) => this.#moveOne(id, frames)));
  }

  async #moveOne(databaseId: string, frames: number): Promise<void> {
    const { host, spool, clock } = this.options;
    const lanes = host.lanes({ databaseId, namespaceId: "" });
    if (lanes.writes.lease !== null) return;
    await this.#write(lanes, { frames });
    // Rows that cannot be written for the time being move on within the spool, so that its files come to their end.
    if (lanes.idle) return spool.settled(databaseId);
    const isWaiting = frames === Infinity && clock.monotonicMs() < lanes.logRetryMs;
    if (!isWaiting && !this.#tables.failed.has(lanes)) return;
    // On a full disk they would all be in memory.
    if (this.#isRefused || this.#fullness > MOVES_FROM) return;
    const [file, { log, namespaceId }] = [spool.oldestFile, lanes];
    if (file === null || log.repeatRefusals() && !this.#toSpool([lanes])) return;
    log.moveOn(file, MOVED_ON_AT_ONCE, (rows) => spool.append([{ databaseId, namespaceId, rows }]));
  }
}

const isUnspooled = ({ log, dropped }: DatabaseLanes): boolean => log.unspooledCount > 0 && !dropped;
