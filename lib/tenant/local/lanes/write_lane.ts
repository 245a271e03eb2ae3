// What waits for the write slot of one database, in its order: calls, tasks of the service, and transactions, which get the
// slot as a lease.
import { groupLength } from "../../group_length.ts";
import type { Request } from "../child/protocol.ts";
import type { CallJob, TaskJob } from "./jobs.ts";
import type { LeaseJob } from "./write_lease.ts";

type Entry =
  | { readonly kind: "call"; readonly job: CallJob }
  | { readonly kind: "task"; readonly job: TaskJob }
  | { readonly kind: "lease"; readonly job: LeaseJob };

/** A transaction that reads the file as long as nobody has the write slot. */
export interface SlotReader {
  /** Ends it at once. Throws nothing. */
  letGo(): void;
}

/** What leaves a file at rest as it is. */
const BRIEF: ReadonlySet<Request["op"]> = new Set(["inspect", "schema", "find_replay", "has_log"]);

/** The last turn of any lane of this process. */
let turns = 0;

/** The lane of writes. */
export class WriteLane {
  /** The transaction that has the write slot; null: none has it. */
  lease: LeaseJob | null = null;
  /** A task of who has the lease. It starts also while the lanes are held: who holds them waits for the lease to end. */
  leased: TaskJob | null = null;
  /** Who reads while the slot is free; null: nobody. */
  reader: SlotReader | null = null;
  /** Whether somebody may give a file at rest its log without the slot: who reads there ends with each turn then. */
  givesWay = false;
  #waiting: Entry[] = [];
  #turn = ++turns;

  get length(): number {
    return this.#waiting.length;
  }

  takeLeased(): TaskJob | null {
    const { leased } = this;
    this.leased = null;
    return leased;
  }

  /** A number that changes with each holder of the write slot. No lane of this process has had it before. */
  get turn(): number {
    return this.#turn;
  }

  /** To be called when somebody gets the slot. */
  nextTurn(): void {
    this.#turn = ++turns;
    this.reader?.letGo();
  }

  /** To be called before somebody gives a file at rest its log without the slot. */
  giveWay(): void {
    this.givesWay = true;
    this.reader?.letGo();
  }

  /** The same for a task, if it is one that does so. */
  giveWayTo({ request }: TaskJob): void {
    if (!BRIEF.has(request.op)) this.giveWay();
  }

  /** What the first in the lane is; null: nobody waits. */
  get first(): Entry["kind"] | null {
    return this.#waiting[0]?.kind ?? null;
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
    this.lease?.writerWaits();
  }

  /** The calls that wait. */
  *calls(): Iterable<CallJob> {
    for (const entry of this.#waiting) if (entry.kind === "call") yield entry.job;
  }

  /** Puts work that did not run back at the front, in its order. */
  putBack(entries: readonly Entry[]): void {
    this.#waiting = [...entries, ...this.#waiting];
  }

  /** Takes a transaction out that still waits; false: it does not. */
  removeLease(job: LeaseJob): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter((entry) => entry.job !== job);
    return this.#waiting.length < before;
  }

  /** Gives the slot, which is free, to a transaction if it is the first. */
  grantLease(): void {
    const [first] = this.#waiting;
    if (first?.kind !== "lease") return;
    this.#waiting.shift();
    this.nextTurn();
    this.lease = first.job;
    first.job.resolve();
    if (this.#waiting.length > 0) first.job.writerWaits();
  }

  /** Keeps only the calls for which `keep` is true. */
  filterCalls(keep: (job: CallJob) => boolean): void {
    this.#waiting = this.#waiting.filter((entry) => entry.kind !== "call" || keep(entry.job));
  }

  rejectAll(error: Error): void {
    for (const entry of this.#waiting.splice(0)) entry.job.reject(error);
    this.takeLeased()?.reject(error);
  }

  /** Takes the task that is first, or else the calls that may travel together. */
  take(): TaskJob | CallJob[] {
    this.nextTurn();
    const first = this.#waiting[0];
    if (first?.kind === "task") {
      this.#waiting.shift();
      return first.job;
    }
    const calls: CallJob[] = [];
    for (const entry of this.#waiting) {
      if (entry.kind !== "call") break;
      calls.push(entry.job);
    }
    const jobs = calls.slice(0, groupLength(calls));
    this.#waiting.splice(0, jobs.length);
    return jobs;
  }
}
