// Looks at slow flights every few milliseconds: ends a child whose statement is past its deadline, whose caller has
// gone or whose memory is out of bounds, and gives work that waits behind a slow child another one.
import { AppError } from "../../core/errors.ts";
import type { ChildSlot, LaneFlight } from "./child_slot.ts";
import type { Scheduler } from "./scheduler.ts";
import type { CallJob, TaskJob } from "./jobs.ts";
import { abandonCall } from "./settle_group.ts";

const TICK_MS = 5;
/** Flights younger than this are left alone: nearly all are done by then. */
const YOUNG_MS = 25;
/** How often a flight's progress and memory are read, once it is old enough. */
const LOOK_MS = 50;
/** Resident bytes at which a child is ended: the program, the engine's bounded heap and the largest result fit below. */
const MAX_RESIDENT_BYTES = 700 * 1024 * 1024;
/** A task of the service itself (a checkpoint, a prune) that takes longer than this is stuck. */
const TASK_TIMEOUT_MS = 120_000;
/** Milliseconds that a call may wait in a queue. */
const MAX_WAIT_MS = 30_000;
const PAGE_BYTES = 4096;

export class Watchdog {
  #timer: ReturnType<typeof setInterval> | null = null;
  #lastLookMs = 0;
  #idleTicks = 0;

  constructor(private readonly scheduler: Scheduler, private readonly timeoutMs: number) {}

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
    const look = nowMs - this.#lastLookMs >= LOOK_MS;
    if (look) this.#lastLookMs = nowMs;
    let busy = scheduler.waiting.size > 0;
    for (const slot of scheduler.slots) {
      if (!slot.flight) continue;
      busy = true;
      if (look && nowMs - slot.flight.startedMs >= YOUNG_MS) this.#inspect(slot, slot.flight, nowMs);
    }
    if (scheduler.waiting.size > 0) {
      if (look) this.#expireWaiting(nowMs);
      scheduler.pump();
    }
    this.#idleTicks = busy ? 0 : this.#idleTicks + 1;
    if (this.#idleTicks > 200) this.stop();
  }

  #inspect(slot: ChildSlot, flight: LaneFlight, nowMs: number): void {
    if (flight.killed) return;
    const { work } = flight;
    const reason = work.kind === "task"
      ? (nowMs - flight.startedMs > this.#taskTimeoutMs(work.job) ? "timeout" : null)
      : this.#groupReason(slot, flight, work.jobs, nowMs);
    if (reason === null && residentBytes(slot.child.pid) <= MAX_RESIDENT_BYTES) return;
    flight.killed = reason ?? "memory";
    flight.killedMs = nowMs;
    slot.child.kill();
  }

  /** Views and CTEs can make compiling alone last: it has the bound of a statement, for all texts of a call. */
  #taskTimeoutMs({ request: { op } }: TaskJob): number {
    return op === "inspect" || op === "schema" ? this.timeoutMs : TASK_TIMEOUT_MS;
  }

  #groupReason(
    slot: ChildSlot,
    flight: LaneFlight,
    jobs: readonly CallJob[],
    nowMs: number,
  ): "timeout" | "gone" | null {
    const progress = slot.child.progressOf(flight.frame);
    if (!progress) return nowMs - flight.startedMs > this.timeoutMs * 2 ? "timeout" : null;
    const { seen } = flight;
    if (progress.call !== seen.call || progress.statement !== seen.statement) {
      // First seen now, begun at most one look ago: that much is given to the statement.
      flight.seen = { ...progress, sinceMs: seen.call === -1 ? flight.startedMs : nowMs };
    }
    if (jobs[progress.call]?.call.signal()?.aborted && flight.answered === null) return "gone";
    const timeoutMs = Math.min(this.timeoutMs, jobs[progress.call]?.call.timeoutMs ?? Infinity);
    return nowMs - flight.seen.sinceMs >= timeoutMs ? "timeout" : null;
  }

  #expireWaiting(nowMs: number): void {
    for (const lanes of this.scheduler.waiting) {
      const overdue = lanes.removeCalls((job) =>
        nowMs - job.queuedMs > YOUNG_MS &&
        (job.call.signal()?.aborted === true || nowMs - job.queuedMs > MAX_WAIT_MS)
      );
      for (const job of overdue) {
        if (job.call.signal()?.aborted) abandonCall(job);
        else job.reject(new AppError("database_busy"));
      }
    }
  }
}

/** Linux only; elsewhere the engine's and the JavaScript heap's own bounds have to do. */
function residentBytes(pid: number): number {
  if (Deno.build.os !== "linux") return 0;
  try {
    return Number(Deno.readTextFileSync(`/proc/${pid}/statm`).split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
