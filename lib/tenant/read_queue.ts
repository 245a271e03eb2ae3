// The reads that wait for one database. Those of a caller whose reads took long a short while ago wait apart, so that
// nobody else's wait behind them.
import { groupLength, type WaitingCall } from "./group_length.ts";

/** Milliseconds that a caller, and a text of its, count as slow after they were seen to be. */
const SLOW_MS = 10_000;
/** Slow texts remembered of a caller, and characters kept of one. */
const MAX_TEXTS = 64;
const TEXT_CHARACTERS = 1000;
/** Reads of one slow caller that may wait: it must not fill the queue of the database. */
const MAX_WAITING = 1000;
/** For so many times what its read has taken a caller comes after the others, and milliseconds of that at most. */
const BUSY_FACTOR = 10;
const MAX_BUSY_MS = 1000;

/** A read that waits. */
export interface WaitingRead extends WaitingCall {
  /** It was seen to be slow. */
  slow?: true;
  /** It was taken back once from beside a slow one: it travels with its caller's only. */
  again?: true;
}

/** Work that takes long, or may. */
export interface SlowWork {
  /** Whose it is; null: an anonymous caller's. */
  readonly tokenId: string | null;
  /** One of the slots for slow work is its own; without one it gives way. */
  hasSlot: boolean;
  /** It was seen to be slow, and not only taken for it. */
  seen: boolean;
}

/** What slow work may start now; `tokenId`: whose it is, null: an anonymous caller's. */
export interface SlowGates {
  readonly mayTry: () => boolean;
  readonly mayTakeSlot: (tokenId: string | null) => boolean;
}

/** A caller whose reads took long a short while ago, and those of them that wait. */
class SlowCaller<J extends WaitingRead> {
  /** Not known to be slow. */
  untried: J[] = [];
  slow: J[] = [];
  busyUntilMs = -Infinity;
  #slowUntilMs = -Infinity;
  /** Text → when it stops to count, the oldest first. */
  readonly #texts = new Map<string, number>();

  get waiting(): number {
    return this.untried.length + this.slow.length;
  }

  /** Whether any read of it was slow, and not only so long that others come first. */
  isSlow(nowMs: number): boolean {
    return nowMs < this.#slowUntilMs || this.slow.length > 0;
  }

  knows(job: J): boolean {
    return job.slow === true || this.#texts.has(textOf(job));
  }

  note(job: J, nowMs: number): void {
    this.#slowUntilMs = nowMs + SLOW_MS;
    job.slow = true;
    for (const [text, untilMs] of this.#texts) if (untilMs <= nowMs) this.#texts.delete(text);
    const text = textOf(job);
    const isNew = !this.#texts.delete(text);
    if (isNew && this.#texts.size >= MAX_TEXTS) return;
    this.#texts.set(text, nowMs + SLOW_MS);
    if (!isNew) return;
    this.slow.push(...this.untried.filter((other) => this.knows(other)));
    this.untried = this.untried.filter((other) => !this.knows(other));
  }

  forget(job: J): void {
    this.#texts.delete(textOf(job));
  }

  /** The newest, for what has waited is more likely to be slow as well, and others of its text. */
  takeTry(): J[] {
    const newest = this.untried.at(-1);
    if (!newest) return [];
    const text = textOf(newest);
    const same = this.untried.filter((job) => textOf(job) === text);
    const jobs = new Set(same.slice(0, groupLength(same)));
    this.untried = this.untried.filter((job) => !jobs.has(job));
    return [...jobs];
  }
}

export class ReadQueue<J extends WaitingRead> {
  #quick: J[] = [];
  /** In the order in which they get their turn. */
  readonly #slow = new Map<string | null, SlowCaller<J>>();

  get length(): number {
    let length = this.#quick.length;
    for (const caller of this.#slow.values()) length += caller.waiting;
    return length;
  }

  /** Whether any caller's wait apart. */
  get hasSlow(): boolean {
    return this.#slow.size > 0;
  }

  /** False: too many of its caller wait. */
  add(job: J): boolean {
    const caller = this.#slow.size > 0 ? this.#slow.get(tokenOf(job)) : undefined;
    if (!caller) this.#quick.push(job);
    else if (caller.waiting >= MAX_WAITING) return false;
    else (caller.knows(job) ? caller.slow : caller.untried).push(job);
    return true;
  }

  /** To the front, in their order. */
  putBack(jobs: readonly J[]): void {
    const quick: J[] = [];
    for (const job of jobs.toReversed()) {
      const caller = this.#slow.get(tokenOf(job));
      if (!caller) quick.unshift(job);
      else (caller.knows(job) ? caller.slow : caller.untried).unshift(job);
    }
    this.#quick = [...quick, ...this.#quick];
  }

  /** Takes out those for which `keep` is false. */
  filter(keep: (job: J) => boolean): void {
    this.#quick = this.#quick.filter(keep);
    for (const caller of this.#slow.values()) {
      caller.untried = caller.untried.filter(keep);
      caller.slow = caller.slow.filter(keep);
    }
  }

  /** What may start next apart from slow work: `others` of callers whose reads are quick, else of one that is busy. */
  nextQuick(nowMs: number): "none" | "others" | "busy" {
    if (this.#slow.size > 0) this.#release(nowMs);
    if (this.#quick.length > 0) return "others";
    return this.#leastBusy(nowMs) === null ? "none" : "busy";
  }

  takeQuick(nowMs: number): J[] {
    const [first] = this.#quick;
    if (first?.again) return this.#takeOfCaller(tokenOf(first));
    const jobs = first ? this.#quick : this.#leastBusy(nowMs)?.untried ?? [];
    return jobs.splice(0, groupLength(jobs));
  }

  /** Slow work that may start: callers take turns. */
  takeSlow(nowMs: number, { mayTry, mayTakeSlot }: SlowGates): { jobs: J[]; slow: SlowWork } | null {
    for (const [tokenId, caller] of this.#slow) {
      const hasSlot = caller.slow.length > 0 && mayTakeSlot(tokenId);
      if (!hasSlot && !(caller.untried.length > 0 && caller.isSlow(nowMs) && mayTry())) continue;
      this.#slow.delete(tokenId);
      this.#slow.set(tokenId, caller);
      const jobs = hasSlot ? caller.slow.splice(0, 1) : caller.takeTry();
      return { jobs, slow: { tokenId, hasSlot, seen: false } };
    }
    return null;
  }

  /** Whether a read waits that is not known to be slow, of a caller that had slow ones. */
  tryWaits(nowMs: number): boolean {
    for (const caller of this.#slow.values()) {
      if (caller.untried.length > 0 && caller.isSlow(nowMs)) return true;
    }
    return false;
  }

  /** It is slow, and so are others of its text and caller for a while. */
  noteSlow(job: J, nowMs: number): void {
    this.#apart(job).note(job, nowMs);
  }

  /** It has run quickly. */
  forget(job: J): void {
    this.#slow.get(tokenOf(job))?.forget(job);
  }

  /** It has kept a child busy for so long. */
  charge(job: J, ms: number, nowMs: number): void {
    const caller = this.#apart(job);
    const busyMs = Math.max(0, caller.busyUntilMs - nowMs) + ms * BUSY_FACTOR;
    caller.busyUntilMs = nowMs + Math.min(MAX_BUSY_MS, busyMs);
  }

  #takeOfCaller(tokenId: string | null): J[] {
    const jobs = this.#quick.filter((job) => tokenOf(job) === tokenId);
    const taken = new Set(jobs.slice(0, groupLength(jobs)));
    this.#quick = this.#quick.filter((job) => !taken.has(job));
    return [...taken];
  }

  #apart(job: J): SlowCaller<J> {
    const tokenId = tokenOf(job);
    let caller = this.#slow.get(tokenId);
    if (!caller) {
      caller = new SlowCaller<J>();
      this.#slow.set(tokenId, caller);
      caller.untried = this.#quick.filter((other) => tokenOf(other) === tokenId);
      if (caller.untried.length > 0) this.#quick = this.#quick.filter((other) => tokenOf(other) !== tokenId);
    }
    return caller;
  }

  #leastBusy(nowMs: number): SlowCaller<J> | null {
    let least: SlowCaller<J> | null = null;
    for (const caller of this.#slow.values()) {
      if (caller.untried.length === 0 || caller.isSlow(nowMs)) continue;
      if (least === null || caller.busyUntilMs < least.busyUntilMs) least = caller;
    }
    return least;
  }

  /** Those that are neither slow nor busy any more are among the others again. */
  #release(nowMs: number): void {
    for (const [tokenId, caller] of this.#slow) {
      if (nowMs < caller.busyUntilMs || caller.isSlow(nowMs)) continue;
      this.#slow.delete(tokenId);
      this.#quick.push(...caller.untried);
    }
  }
}

/** Whose a call is; null: an anonymous caller's. */
export function tokenOf({ call }: WaitingCall): string | null {
  return call.log?.tokenId ?? null;
}

/** A batch counts as its first statement; of long texts the beginning and the length stand for all of it. */
function textOf({ call }: WaitingCall): string {
  const sql = call.statements[0]?.sql ?? "";
  return sql.length <= TEXT_CHARACTERS ? sql : `${sql.length} ${sql.slice(0, TEXT_CHARACTERS)}`;
}
