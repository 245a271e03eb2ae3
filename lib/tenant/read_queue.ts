// The reads that wait for one database. Callers whose recent reads were slow wait in a separate queue, so that other
// callers' reads do not wait behind theirs.
import { groupLength, type WaitingCall } from "./group_length.ts";
import { SlowCaller, type WaitingRead } from "./slow_caller.ts";
import type { SlowTurn } from "./slow_turns.ts";

/** Reads from which a group is worth dividing. */
const SEVERAL = 4;
/** The most waiting reads of one slow caller: it must not fill the database's queue. */
const MAX_WAITING = 1000;
/** A caller waits behind others for this multiple of its read's duration, but at most these milliseconds. */
const BUSY_FACTOR = 10;
const MAX_BUSY_MS = 1000;

/** Work that takes long, or may. */
export interface SlowWork {
  /** The caller's token; null for an anonymous caller. */
  readonly tokenId: string | null;
  /** The work holds one of the slots for slow work. Without a slot it gives way to others. */
  hasSlot: boolean;
  /** The work has been slow itself, rather than being assumed slow. */
  seen: boolean;
  /** Set while it has the turn of what has no slot. */
  turn?: SlowTurn;
}

/** Decides which slow work may start now. `tokenId` is the caller's, null for an anonymous caller. */
export interface SlowGates {
  readonly mayTry: () => boolean;
  readonly mayTakeSlot: (tokenId: string | null) => boolean;
  /** How long the caller has had the turn; null: it may not take it. */
  readonly hadTurnMs: (tokenId: string | null) => number | null;
  /** `turns`: how many the read has had with this one. */
  readonly beginTurn: (tokenId: string | null, turns?: number) => SlowTurn;
}

/** A slow caller with reads that wait. */
export interface SlowWaiter {
  readonly tokenId: string | null;
  /** Of its slow reads: none waits, one that has had a turn, or one that has had none yet. */
  readonly slow: "none" | "again" | "new";
  /** A read waits that is not known to be slow. */
  readonly tries: boolean;
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

  /** All that wait. */
  *all(): Iterable<J> {
    yield* this.#quick;
    for (const { untried, slow } of this.#slow.values()) yield* [...untried, ...slow];
  }

  /** Puts reads at the front, in their order. */
  putBack(jobs: readonly J[]): void {
    const quick: J[] = [];
    for (const job of jobs.toReversed()) {
      job.lasts = false;
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

  /** `parts`: one of so many is taken, where several wait. */
  takeQuick(nowMs: number, parts = 1): J[] {
    const [first] = this.#quick;
    if (first?.again) return this.#takeOfCaller(tokenOf(first));
    if (!first) return this.#leastBusy(nowMs)?.takeQuick() ?? [];
    const { length } = this.#quick;
    const part = length < SEVERAL ? this.#quick : this.#quick.slice(0, Math.ceil(length / parts));
    return this.#quick.splice(0, groupLength(part));
  }

  /** Removes, in their order, the quick reads that `start` has started; the others keep their places. */
  startQuick(nowMs: number, start: (job: J) => boolean): void {
    if (this.#slow.size > 0) this.#release(nowMs);
    this.#quick = this.#quick.filter((job) => !start(job));
  }

  /** Takes slow work that may start; callers take turns. */
  takeSlow(nowMs: number, gates: SlowGates): { jobs: J[]; slow: SlowWork } | null {
    const { mayTry, mayTakeSlot } = gates;
    for (const [tokenId, caller] of this.#slow) {
      const hasSlot = caller.slow.length > 0 && mayTakeSlot(tokenId);
      if (!hasSlot && !(caller.untried.length > 0 && caller.isSlow(nowMs) && mayTry())) continue;
      if (this.#slow.size > 1) {
        this.#slow.delete(tokenId);
        this.#slow.set(tokenId, caller);
      }
      const jobs = hasSlot ? caller.slow.splice(0, 1) : caller.takeTry();
      return { jobs, slow: { tokenId, hasSlot, seen: false } };
    }
    return this.#takeTurn(gates);
  }

  /** The slow callers, with what waits of each. */
  *slowWaiters(nowMs: number): Iterable<SlowWaiter> {
    for (const [tokenId, caller] of this.#slow) {
      const slow = caller.slow.length === 0 ? "none" : caller.hasNew ? "new" : "again";
      yield { tokenId, slow, tries: caller.untried.length > 0 && caller.isSlow(nowMs) };
    }
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

  /** Notes for how long the read, which was long, kept a child busy. */
  charge(job: J, ms: number, nowMs: number): void {
    const caller = this.#apart(job);
    caller.noteLength(job, true);
    const busyMs = Math.max(0, caller.busyUntilMs - nowMs) + ms * BUSY_FACTOR;
    caller.busyUntilMs = nowMs + Math.min(MAX_BUSY_MS, busyMs);
  }

  /** Notes that the read took no time worth mentioning. */
  noteShort(job: J): void {
    this.#slow.get(tokenOf(job))?.noteLength(job, false);
  }

  /** Takes a slow read of the caller that has had the turn least. */
  #takeTurn({ hadTurnMs, beginTurn }: SlowGates): { jobs: J[]; slow: SlowWork } | null {
    let least: { tokenId: string | null; caller: SlowCaller<J>; ms: number } | null = null;
    for (const [tokenId, caller] of this.#slow) {
      const ms = caller.slow.length > 0 ? hadTurnMs(tokenId) : null;
      if (ms !== null && (least === null || ms < least.ms)) least = { tokenId, caller, ms };
    }
    if (least === null) return null;
    const { tokenId, caller } = least;
    const jobs = caller.takeTurn();
    const turn = beginTurn(tokenId, jobs[0]?.turns);
    return { jobs, slow: { tokenId, hasSlot: false, seen: false, turn } };
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
