// Polls slow flights every few milliseconds. It ends a child whose statement is past its deadline, whose caller has gone,
// whose memory is out of bounds, whose slow read blocks others or that stands still, and starts another child for waiting work.
import { AppError } from "../../../core/errors.ts";
import { isSilent, MAX_RESIDENT_BYTES, SILENT_MS, spillsTooMuch } from "./child_bounds.ts";
import type { ChildSlot, LaneFlight } from "./child_slot.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Progress } from "./progress_files.ts";
import { givesUp, givesWay, makesWay } from "./gives_way.ts";
import type { CallJob, TaskJob } from "../lanes/jobs.ts";
import { overMemory } from "./over_memory.ts";
import { takeBackBehind } from "./read_train.ts";
import { abandonCall } from "./settle_group.ts";

const TICK_MS = 5;
/** Flights younger than this are not polled, because nearly all have ended by then. */
const YOUNG_MS = 25;
/**
 * Milliseconds between two polls of a flight's progress and memory: usually (`POLL_MS`), and while others wait
 * (`SOON_MS`).
 */
const POLL_MS = 50;
const SOON_MS = 10;
/** Milliseconds between two looks at the memory of all children together: each look reads a file for every child. */
const MEMORY_MS = 50;
/** A task of the service itself (a checkpoint, a prune) that takes longer than this is stuck. */
const TASK_TIMEOUT_MS = 120_000;
/** Milliseconds that a call may wait in a queue, and that a read may at least. */
const MAX_WAIT_MS = 30_000;
const MIN_WAIT_MS = 1000;

/** The bounds that the watchdog enforces. */
export interface WatchdogBounds {
  /** Milliseconds that one statement may run. */
  readonly timeoutMs: number;
  /** Bytes that the children may hold together; those of transactions hold a part of the memory too. */
  readonly leftBytes: () => number;
  /** Bytes of temporary files that a read may write now. */
  readonly tempBytes: () => number;
}

/** Ends flights that take too long. */
export class Watchdog {
  #timer: ReturnType<typeof setInterval> | null = null;
  #lastPollMs = 0;
  #lastMemoryMs = 0;
  #idleTicks = 0;

  constructor(private readonly scheduler: Scheduler, private readonly bounds: WatchdogBounds) {}

  /** Call when work starts; the timer ends by itself when there is none. */
  watch(): void {
    this.#idleTicks = 0;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const { scheduler } = this;
    const nowMs = scheduler.options.clock.monotonicMs();
    const poll = nowMs - this.#lastPollMs >= (scheduler.waiting.size > 0 ? SOON_MS : POLL_MS);
    if (poll) this.#lastPollMs = nowMs;
    let busy = scheduler.waiting.size > 0;
    for (const slot of scheduler.slots) {
      if (!slot.flight && slot.toClose.length === 0) continue;
      busy = true;
      if (!slot.flight) {
        if (poll) this.#inspectClosing(slot, nowMs);
        continue;
      }
      if (nowMs - slot.flight.startedMs < YOUNG_MS) continue;
      takeBackBehind(slot, scheduler.waiting);
      if (poll) this.#inspect(slot, slot.flight, nowMs);
    }
    if (nowMs - this.#lastMemoryMs >= MEMORY_MS) this.#boundMemory(nowMs);
    if (scheduler.waiting.size > 0) {
      if (poll) this.#expireWaiting(nowMs);
      scheduler.pump();
    }
    this.#idleTicks = busy ? 0 : this.#idleTicks + 1;
    if (this.#idleTicks > 200) this.stop();
  }

  #inspect(slot: ChildSlot, flight: LaneFlight, nowMs: number): void {
    if (flight.killed) return;
    const { work } = flight;
    const report = slot.child.report(flight.frame);
    const progress = report?.progress ?? null;
    const silent = isSilent(flight, report, nowMs);
    // A child that is still starting has begun nothing, however long the start takes on a busy machine.
    if (work.kind === "task" && !slot.child.serves) flight.seen.sinceMs = nowMs;
    const overdue = work.kind === "task"
      ? (nowMs - flight.seen.sinceMs > this.#taskTimeoutMs(work.job) ? "timeout" : null)
      : this.#groupReason(progress, flight, work.jobs, nowMs);
    const reason = overdue ?? (report && report.residentBytes > MAX_RESIDENT_BYTES ? "memory" : null) ??
      (work.kind === "read" && spillsTooMuch(flight.seen, report, this.bounds.tempBytes) ? "disk" : null) ??
      (givesWay(this.scheduler, flight, report, nowMs) || makesWay(slot, flight, report, nowMs)
        ? "busy"
        : null);
    if (reason === null && !silent) return;
    // A child that no longer reports its memory is unbounded, so it counts as crashed.
    this.#kill(slot, flight, { reason, nowMs });
  }

  /** A child that stands still while it is to close a file would keep whoever replaces that waiting, and then everybody. */
  #inspectClosing(slot: ChildSlot, nowMs: number): void {
    const [closing] = slot.toClose;
    if (!closing || slot.leaving || !isSilent(closing, slot.child.report(0), nowMs)) return;
    slot.leaving = true;
    slot.child.kill();
    this.scheduler.options.counts.ended("unexpected", "close");
  }

  #kill(
    slot: ChildSlot,
    flight: LaneFlight,
    { reason, nowMs }: { readonly reason: LaneFlight["killed"]; readonly nowMs: number },
  ): void {
    flight.killed = reason;
    flight.killedMs = nowMs;
    // Its answer may already be on the way: what started behind that answer would end with the child.
    slot.leaving = true;
    slot.child.kill();
  }

  #boundMemory(nowMs: number): void {
    this.#lastMemoryMs = nowMs;
    const victim = overMemory(this.scheduler.slots, this.bounds.leftBytes());
    if (victim?.flight) this.#kill(victim, victim.flight, { reason: "memory", nowMs });
    else if (victim) this.scheduler.endChild(victim);
  }

  /**
   * Views and CTEs can make compiling alone last: it has the bound of a statement, for all texts of a call. Names of columns,
   * which only the service asks for, take as long as the views do, and are not a statement's to end.
   */
  #taskTimeoutMs({ request }: TaskJob): number {
    if (request.op === "schema") return Math.max(this.bounds.timeoutMs, SILENT_MS);
    return request.op === "inspect" && request.statements.length > 0
      ? this.bounds.timeoutMs
      : TASK_TIMEOUT_MS;
  }

  #groupReason(
    progress: Progress | null,
    flight: LaneFlight,
    jobs: readonly CallJob[],
    nowMs: number,
  ): "timeout" | "gone" | null {
    // A child that is still starting has begun nothing here either.
    const startMs = Math.max(this.bounds.timeoutMs * 2, SILENT_MS);
    if (!progress) return nowMs - flight.startedMs > startMs ? "timeout" : null;
    const { seen } = flight;
    if (progress.call !== seen.call || progress.statement !== seen.statement) {
      // The statement is seen for the first time, so it began at most one poll ago.
      const first = Math.max(flight.startedMs, nowMs - YOUNG_MS - POLL_MS);
      flight.seen = { ...progress, sinceMs: seen.call === -1 ? first : nowMs };
    }
    const isLeft = jobs[progress.call]?.call.signal()?.aborted === true && flight.answered === null;
    if (givesUp(this.scheduler, flight, isLeft, nowMs)) return "gone";
    const timeoutMs = Math.min(this.bounds.timeoutMs, jobs[progress.call]?.call.timeoutMs ?? Infinity);
    return nowMs - flight.seen.sinceMs >= timeoutMs ? "timeout" : null;
  }

  /** A read waits no longer than it may run. */
  #maxWaitMs({ call }: CallJob): number {
    return call.level === "read"
      ? Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, this.bounds.timeoutMs))
      : MAX_WAIT_MS;
  }

  #expireWaiting(nowMs: number): void {
    for (const lanes of this.scheduler.waiting) {
      const overdue = lanes.removeCalls((job) =>
        nowMs - job.queuedMs > YOUNG_MS &&
        (job.call.signal()?.aborted === true || nowMs - job.queuedMs > this.#maxWaitMs(job))
      );
      for (const job of overdue) {
        if (job.call.signal()?.aborted) abandonCall(job);
        else job.reject(new AppError("database_busy"));
      }
    }
  }
}
