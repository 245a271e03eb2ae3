// The waiting work of one database: a lane of reads and a lane of writes. At most one write group runs at any time, in any
// child; that is the database's write slot.
import { AppError } from "../../../core/errors.ts";
import { DEFAULT_LOG_BYTES, LogBuffer } from "../../log/log_buffer.ts";
import { type CallJob, type Flight, holdsWriteSlot, isLong, type TaskJob, type TaskLane } from "./jobs.ts";
import { FewOf } from "./few_of.ts";
import { ReadPace } from "./read_pace.ts";
import { ReadQueue } from "../../read_queue.ts";
import { WriteLane } from "./write_lane.ts";
import type { LeaseJob } from "./write_lease.ts";
import { pause } from "../../../core/pause.ts";

/** The most calls that wait for one database; further ones are refused. */
const MAX_WAITING = 10_000;
/** The most log rows that one frame carries, some 0.7 ms of work: later reads wait for them. */
export const GROUP_LOG_ROWS = 256;
/** A group of writes, which opens the file anyway, takes the waiting log rows along while they are at most so many. */
const FEW_LOG_ROWS = 64;
/** The most read groups at a time, not counting slow work. */
const MAX_READING = 3;

/** The waiting work of one database. */
export class DatabaseLanes {
  readonly flights = new FewOf<Flight>();
  readonly reads = new ReadQueue<CallJob>();
  readonly writes = new WriteLane();
  readonly pace = new ReadPace();
  dropped = false;
  /** Only the exclusive task may start, and only when nothing runs. */
  held = false;
  /** Of held lanes: settles when they are not held any more. */
  released: Promise<void> = Promise.resolve();
  /** Open transactions, and how each is ended by somebody else; resolved when it is gone. */
  readonly transactions = new Set<{ end(why: string): Promise<void> }>();
  /** Log rows that could not be written wait until this time, by the monotonic clock. */
  logRetryMs = -Infinity;
  /** Settles when the log flushes under way have ended. */
  logFlush: Promise<void> = Promise.resolve();
  #readTasks: TaskJob[] = [];
  #exclusive: TaskJob | null = null;
  #lastStarted: "read" | "write" = "write";
  /** Whether the group that started last had one call. */
  #wasAlone = false;

  /** `namespaceId`: empty until somebody has come who knows it. `log`: the waiting log rows. */
  constructor(
    readonly databaseId: string,
    public namespaceId: string,
    readonly log: LogBuffer = new LogBuffer(DEFAULT_LOG_BYTES),
  ) {}

  get waiting(): number {
    return this.reads.length + this.#readTasks.length + this.writes.length + (this.#exclusive ? 1 : 0) +
      (this.writes.leased ? 1 : 0);
  }

  /** Whether the database has no work, no log rows and nobody who needs its lanes. */
  get idle(): boolean {
    return this.mayEnd && this.log.length === 0 && this.writes.reader === null;
  }

  /**
   * Whether one read waits, and the one before it was alone too: a caller who waits for each answer sends no other now.
   * Writes gain more from company, because a group has one sync.
   */
  get isLoneRead(): boolean {
    return this.#wasAlone && this.reads.length === 1 && this.waiting === 1 && this.flights.size === 0;
  }

  /** Whether the file may be read outside its children: nobody replaces or deletes it, or waits to. */
  get mayLookUp(): boolean {
    return !this.held && !this.dropped;
  }

  /**
   * A number that changes with each holder of the write slot: as long as it stays the same, so does the file's content. Null
   * while somebody holds the slot.
   */
  get writeTurn(): number | null {
    return this.writeSlotFree ? this.writes.turn : null;
  }

  /** Whether nothing waits but log rows. */
  get mayEnd(): boolean {
    return this.waiting === 0 && this.flights.size === 0 && !this.held && this.transactions.size === 0;
  }

  addCall(job: CallJob): void {
    if (this.dropped) return job.reject(new AppError("store_unavailable"));
    if (this.waiting >= MAX_WAITING) return job.reject(new AppError("database_busy"));
    if (job.call.level !== "read") this.writes.add({ kind: "call", job });
    else if (!this.reads.add(job)) return job.reject(new AppError("database_busy"));
    if (job.wire.log) this.log.note(job.wire.log);
  }

  /** Adds a task; an exclusive one only where the lanes are `held`. */
  addTask(job: TaskJob, lane: TaskLane): void {
    if (this.dropped) return job.reject(new AppError("store_unavailable"));
    if (lane === "exclusive") this.#exclusive = job;
    else if (lane === "leased") this.writes.leased = job;
    else if (lane === "read") {
      this.writes.giveWayTo(job);
      this.#readTasks.push(job);
    } else this.writes.add({ kind: "task", job });
  }

  /** Adds a transaction that wants the write slot. */
  addLease(job: LeaseJob): void {
    if (this.dropped) return job.reject(new AppError("store_unavailable"));
    this.writes.add({ kind: "lease", job });
  }

  /** Gives the write slot to a transaction whose turn it is. */
  grantLease(): void {
    if (!this.held && this.writeSlotFree) this.writes.grantLease();
  }

  /** Puts work that did not run back at the front, in its order. */
  putBack(jobs: readonly CallJob[], kind: "read" | "write"): void {
    if (kind === "read") this.reads.putBack(jobs);
    else this.writes.putBack(jobs.map((job) => ({ kind: "call", job }) as const));
  }

  putBackTask(job: TaskJob, lane: TaskLane): void {
    if (lane === "exclusive" || lane === "leased") this.addTask(job, lane);
    else if (lane === "read") this.#readTasks.unshift(job);
    else this.writes.putBack([{ kind: "task", job }]);
  }

  /** Removes and returns calls for which `gone` is true. */
  removeCalls(gone: (job: CallJob) => boolean): CallJob[] {
    const removed: CallJob[] = [];
    const keep = (job: CallJob): boolean => {
      if (!gone(job)) return true;
      removed.push(job);
      return false;
    };
    this.reads.filter(keep);
    this.writes.filterCalls(keep);
    return removed;
  }

  /** Rejects all work that waits. */
  rejectWaiting(error: Error): void {
    for (const job of this.removeCalls(() => true)) job.reject(error);
    for (const task of this.#readTasks.splice(0)) task.reject(error);
    this.writes.rejectAll(error);
    this.#exclusive?.reject(error);
    this.#exclusive = null;
  }

  /**
   * Takes the next work that may start now, except slow reads; null where there is none. `longMs`: the age from which a
   * flight of reads lets the next one start beside it. `atOnce`: how many younger ones there may be.
   */
  takeWork(nowMs: number, longMs: number, atOnce = 1): Flight["work"] | null {
    const leased = this.writes.takeLeased();
    if (leased !== null) return { kind: "task", job: leased, lane: "leased" };
    if (this.held) return this.#takeExclusive();
    const lane = this.startable(nowMs, longMs, atOnce);
    if (lane === null) return null;
    this.#lastStarted = lane;
    const parts = this.flights.size === 0 ? atOnce : 1;
    const work = lane === "write" ? this.#takeWrite() : this.#takeRead(nowMs, parts);
    if (work.kind !== "task") this.#wasAlone = work.jobs.length === 1;
    return work;
  }

  /** The lane from which `takeWork` would take. */
  startable(nowMs: number, longMs: number, atOnce = 1): "read" | "write" | null {
    if (this.writes.leased !== null) return "write";
    if (this.held) return this.#exclusive !== null && this.flights.size === 0 ? "write" : null;
    const write = this.#mayWrite;
    const read = this.#mayRead(nowMs, longMs, atOnce);
    // Reads and writes take turns, so that neither starves the other.
    if (write && (!read || this.#lastStarted === "read")) return "write";
    return read ? "read" : null;
  }

  /** Whether work waits that may start now and is not slow. */
  quickWaits(nowMs: number): boolean {
    return this.#readTasks.length > 0 || this.writes.leased !== null || this.#mayWrite ||
      this.reads.nextQuick(nowMs) !== "none";
  }

  /** Whether a task is the next read. */
  get readsTask(): boolean {
    return this.#readTasks.length > 0;
  }

  /** Waits until the database has no flight. */
  async nothingRuns(): Promise<void> {
    while (this.flights.size > 0) await pause(2);
  }

  get writeSlotFree(): boolean {
    if (this.writes.lease !== null) return false;
    for (const flight of this.flights) if (holdsWriteSlot(flight)) return false;
    return true;
  }

  get #mayWrite(): boolean {
    const { first } = this.writes;
    return first !== null && first !== "lease" && this.writeSlotFree;
  }

  /** `atOnce` bounds the groups under way that are not long. The last group allowed is for quick callers. */
  #mayRead(nowMs: number, longMs: number, atOnce: number): boolean {
    const next = this.#readTasks.length > 0 ? "others" : this.reads.nextQuick(nowMs);
    if (next === "none") return false;
    let [reading, quick] = [0, 0];
    for (const flight of this.flights) {
      if (holdsWriteSlot(flight) || flight.slow) continue;
      if (!isLong(flight, nowMs, longMs)) quick++;
      reading++;
    }
    return quick < atOnce && reading < (next === "busy" ? MAX_READING - 1 : MAX_READING);
  }

  #takeExclusive(): Flight["work"] | null {
    const job = this.#exclusive;
    if (job === null || this.flights.size > 0) return null;
    this.#exclusive = null;
    this.writes.nextTurn();
    return { kind: "task", job, lane: "exclusive" };
  }

  #takeRead(nowMs: number, parts: number): Flight["work"] {
    const task = this.#readTasks.shift();
    if (task) return { kind: "task", job: task, lane: "read" };
    return { kind: "read", jobs: this.reads.takeQuick(nowMs, parts), logRows: [] };
  }

  #takeWrite(): Flight["work"] {
    const taken = this.writes.take();
    if (!Array.isArray(taken)) return { kind: "task", job: taken, lane: "write" };
    // A dry run commits nothing, so no log rows can be committed with it.
    const takesRows = !taken[0]?.call.dryRun && this.log.length <= FEW_LOG_ROWS;
    return { kind: "write", jobs: taken, logRows: takesRows ? this.log.take(FEW_LOG_ROWS) : [] };
  }
}
