// The reads that wait for one database. Callers whose recent reads were slow wait in a separate queue, so that other
// callers' reads do not wait behind theirs.
import { groupLength, type WaitingCall } from "./group_length.ts";

/** Milliseconds for which a caller and a text count as slow after a slow read. */
const SLOW_MS = 10_000;
/** The most slow texts remembered for a caller, and characters remembered of each. */
const MAX_TEXTS = 64;
const TEXT_CHARACTERS = 1000;
/** The most waiting reads of one slow caller: it must not fill the database's queue. */
const MAX_WAITING = 1000;
/** A caller waits behind others for this multiple of its read's duration, but at most these milliseconds. */
const BUSY_FACTOR = 10;
const MAX_BUSY_MS = 1000;

/** A read that waits. */
export interface WaitingRead extends WaitingCall {
  /** The read has been slow before. */
  slow?: true;
  /**
   * The read was taken back from a group with a slow read. When its turn comes, it travels with reads of its caller
   * only.
   */
  again?: true;
}

/** Work that takes long, or may. */
export interface SlowWork {
  /** The caller's token; null for an anonymous caller. */
  readonly tokenId: string | null;
  /** The work holds one of the slots for slow work. Without a slot it gives way to others. */
  hasSlot: boolean;
  /** The work has been slow itself, rather than being assumed slow. */
  seen: boolean;
}

/** Decides which slow work may start now. `tokenId` is the caller's, null for an anonymous caller. */
export interface SlowGates {
  readonly mayTry: () => boolean;
  readonly mayTakeSlot: (tokenId: string | null) => boolean;
}

/** A caller whose recent reads were slow, with its waiting reads. */
class SlowCaller<J extends WaitingRead> {
  /** Reads that are not known to be slow. */
  untried: J[] = [];
  slow: J[] = [];
  busyUntilMs = -Infinity;
  #slowUntilMs = -Infinity;
  /** Slow text → when it stops counting as slow, the oldest first. */
  readonly #texts = new Map<string, number>();

  get waiting(): number {
    return this.untried.length + this.slow.length;
  }

  /** Whether a read of the caller was slow, rather than only long enough to let others go first. */
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

  /**
   * Takes the newest untried read, because one that has waited longer is more likely to be slow, and others of its
   * text.
   */
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

/** The waiting reads of one database. */
export class ReadQueue<J extends WaitingRead> {
  #quick: J[] = [];
  /** Slow callers in the order of their turns. */
  readonly #slow = new Map<string | null, SlowCaller<J>>();

  get length(): number {
    let length = this.#quick.length;
    for (const caller of this.#slow.values()) length += caller.waiting;
    return length;
  }

  /** Whether any caller waits in the separate queue. */
  get hasSlow(): boolean {
    return this.#slow.size > 0;
  }

  /** Adds a read; false where too many reads of its caller wait. */
  add(job: J): boolean {
    const caller = this.#slow.size > 0 ? this.#slow.get(tokenOf(job)) : undefined;
    if (!caller) this.#quick.push(job);
    else if (caller.waiting >= MAX_WAITING) return false;
    else (caller.knows(job) ? caller.slow : caller.untried).push(job);
    return true;
  }

  /** Puts reads at the front, in their order. */
  putBack(jobs: readonly J[]): void {
    const quick: J[] = [];
    for (const job of jobs.toReversed()) {
      const caller = this.#slow.get(tokenOf(job));
      if (!caller) quick.unshift(job);
      else (caller.knows(job) ? caller.slow : caller.untried).unshift(job);
    }
    this.#quick = [...quick, ...this.#quick];
  }

  /** Removes the reads for which `keep` is false. */
  filter(keep: (job: J) => boolean): void {
    this.#quick = this.#quick.filter(keep);
    for (const caller of this.#slow.values()) {
      caller.untried = caller.untried.filter(keep);
      caller.slow = caller.slow.filter(keep);
    }
  }

  /** The next quick reads: `others` of quick callers, else those of a busy caller. */
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

  /** Removes, in their order, the quick reads that `start` has started; the others keep their places. */
  startQuick(nowMs: number, start: (job: J) => boolean): void {
    if (this.#slow.size > 0) this.#release(nowMs);
    this.#quick = this.#quick.filter((job) => !start(job));
  }

  /** Takes slow work that may start; callers take turns. */
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

  /** Whether a slow caller has a waiting read that is not known to be slow. */
  tryWaits(nowMs: number): boolean {
    for (const caller of this.#slow.values()) {
      if (caller.untried.length > 0 && caller.isSlow(nowMs)) return true;
    }
    return false;
  }

  /** Notes a slow read: for a while, reads of the same text and caller count as slow. */
  noteSlow(job: J, nowMs: number): void {
    this.#apart(job).note(job, nowMs);
  }

  /** Notes that the read ran quickly. */
  forget(job: J): void {
    this.#slow.get(tokenOf(job))?.forget(job);
  }

  /** Notes for how long the read kept a child busy. */
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

  /** Callers that are neither slow nor busy any more return to the common queue. */
  #release(nowMs: number): void {
    for (const [tokenId, caller] of this.#slow) {
      if (nowMs < caller.busyUntilMs || caller.isSlow(nowMs)) continue;
      this.#slow.delete(tokenId);
      this.#quick.push(...caller.untried);
    }
  }
}

/** The token of a call's caller; null for an anonymous caller. */
export function tokenOf({ call }: WaitingCall): string | null {
  return call.log?.tokenId ?? null;
}

/** Identifies a call by its first statement; a long text by its beginning and its length. */
function textOf({ call }: WaitingCall): string {
  const sql = call.statements[0]?.sql ?? "";
  return sql.length <= TEXT_CHARACTERS ? sql : `${sql.length} ${sql.slice(0, TEXT_CHARACTERS)}`;
}
