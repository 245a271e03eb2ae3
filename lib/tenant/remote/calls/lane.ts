// One thing at a time for one database: what changes it waits here in the order in which it came. More than one writer at
// once makes sqld slower, and above some sixteen it stops altogether.
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { type CallJob, travelsAlone } from "./write_call.ts";

/** Calls that may wait for one database before new ones are refused. */
const MAX_WAITING = 10_000;
/** Milliseconds that a call may wait for its turn: behind a server that has gone silent it would wait for ever. */
const MAX_WAIT_MS = 30_000;
/** Calls that travel together, and characters of their texts. */
const GROUP_CALLS = 64;
const GROUP_CHARACTERS = 1_000_000;

interface Task {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

type Entry =
  /** `untilMs`: by the monotonic clock. */
  | { readonly kind: "call"; readonly job: CallJob; readonly untilMs: number }
  | { readonly kind: "task"; readonly task: Task };

/** The waiting work of one database. */
export class Lane {
  #waiting: Entry[] = [];
  #running: Promise<void> | null = null;
  /** Refuses calls that wait too long; set while any waits. */
  #expiry: ReturnType<typeof setTimeout> | null = null;

  /** `runCalls` answers every job that it is given; `mayGroup` says whether calls may share a transaction. */
  constructor(
    private readonly runCalls: (jobs: readonly CallJob[]) => Promise<void>,
    private readonly mayGroup: () => Promise<boolean>,
    private readonly clock: Pick<Clock, "monotonicMs">,
    private readonly maxWaitMs: number = MAX_WAIT_MS,
  ) {}

  get idle(): boolean {
    return this.#running === null;
  }

  /** Settles when everything that waits now has run. */
  get drained(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  addCall(job: CallJob): void {
    if (this.#waiting.length >= MAX_WAITING) return job.reject(new AppError("database_busy"));
    this.#add({ kind: "call", job, untilMs: this.clock.monotonicMs() + this.maxWaitMs });
  }

  /** Runs the work while nothing else writes to this database. */
  addTask<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add({ kind: "task", task: { run: async () => resolve(await work()), reject } });
    });
  }

  /** Nothing that waits will run. */
  rejectAll(error: AppError): void {
    for (const entry of this.#waiting.splice(0)) {
      (entry.kind === "call" ? entry.job : entry.task).reject(error);
    }
  }

  #add(entry: Entry): void {
    this.#waiting.push(entry);
    this.#running ??= this.#work();
    if (entry.kind === "call") this.#expiry ??= setTimeout(() => this.#expire(), this.maxWaitMs);
  }

  /** Refuses what has waited too long, and comes again when the next one will have. */
  #expire(): void {
    const nowMs = this.clock.monotonicMs();
    this.#waiting = this.#waiting.filter((entry) => {
      const overdue = entry.kind === "call" && entry.untilMs <= nowMs;
      if (overdue) entry.job.reject(new AppError("database_busy"));
      return !overdue;
    });
    const next = this.#waiting.find((entry) => entry.kind === "call");
    this.#expiry = next?.kind === "call"
      ? setTimeout(() => this.#expire(), Math.max(1, next.untilMs - nowMs))
      : null;
  }

  async #work(): Promise<void> {
    // What is asked for in one turn of the event loop travels together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const [first] = this.#waiting;
      if (first?.kind === "task") {
        this.#waiting.shift();
        await first.task.run().catch(first.task.reject);
        continue;
      }
      const jobs = this.#takeGroup(this.#waiting.length > 1 && await this.mayGroup().catch(() => false));
      await this.runCalls(jobs).catch((error) => {
        for (const job of jobs) job.reject(error);
      });
    }
    // In the same step of the event loop as the check above: whatever comes next starts the work anew.
    this.#running = null;
    if (this.#expiry !== null) clearTimeout(this.#expiry);
    this.#expiry = null;
  }

  #takeGroup(may: boolean): CallJob[] {
    const jobs: CallJob[] = [];
    const keys = new Set<string>();
    let characters = 0;
    for (const entry of this.#waiting) {
      if (entry.kind !== "call" || jobs.length >= GROUP_CALLS) break;
      const { call } = entry.job;
      const own = call.replay?.keys.map(({ key }) => key) ?? [];
      // A repeated call must see what the first one has stored.
      if (jobs.length > 0 && (!may || travelsAlone(call) || own.some((key) => keys.has(key)))) break;
      characters += call.statements.reduce((sum, { sql }) => sum + sql.length, 0);
      if (jobs.length > 0 && characters > GROUP_CHARACTERS) break;
      jobs.push(entry.job);
      for (const key of own) keys.add(key);
      if (travelsAlone(call)) break;
    }
    this.#waiting.splice(0, jobs.length);
    return jobs;
  }
}
