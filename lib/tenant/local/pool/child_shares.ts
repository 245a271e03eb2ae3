// Shares the children between slow work and everybody else's: says which child is free for which work, and which slow work
// may go on.
import { type ChildSlot, isFree, type LaneFlight } from "./child_slot.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { SlowGates } from "../../read_queue.ts";
import type { WireOutcome } from "../child/wire_call.ts";
import { type CallJob, isLong } from "../lanes/jobs.ts";
import { SlowTurns, type TurnCaller, type TurnWaiter } from "../../slow_turns.ts";

/** Milliseconds after which a flight is long: its database's other work may then go to another child. */
export const LONG_FLIGHT_MS = 3;
/**
 * Milliseconds of the child's processor time after which a read is slow work, which needs a slot. Processor time counts
 * first, because a quick read may last long on a busy machine.
 */
export const SLOW_READ_CPU_MS = 50;
/** Milliseconds after which a read is slow work in any case. */
export const SLOW_READ_MS = 1000;
/** Milliseconds after a slow try in which its namespace starts no other try, because each may cost a child. */
const TRY_PAUSE_MS = 500;

/** The parts of the scheduler that the decisions need. */
export interface Shared {
  readonly slots: readonly ChildSlot[];
  readonly waiting: ReadonlySet<DatabaseLanes>;
  readonly options: { readonly maxChildren: number };
}

/** Decides which work may take a child. */
export class ChildShares {
  /** Namespace → when it may start a try again. */
  readonly #noTryUntilMs = new Map<string, number>();
  /** Of reads without a slot. */
  readonly turns = new SlowTurns();

  constructor(private readonly shared: Shared) {}

  /** A child without work, for quick work. */
  get free(): ChildSlot | null {
    return this.shared.slots.find((slot) => isFree(slot) && !slot.lowered) ?? null;
  }

  /** A child without work, for slow work only. */
  get idleForSlow(): ChildSlot | null {
    return this.shared.slots.find((slot) => isFree(slot) && slot.lowered) ?? null;
  }

  /** A child without work, for slow work of a database whose quick work goes to `home`. */
  freeForSlow(home: ChildSlot | undefined): ChildSlot | null {
    return this.idleForSlow ?? this.shared.slots.find((slot) => isFree(slot) && slot !== home) ?? null;
  }

  /** Whether one more child may be started. */
  get mayGrow(): boolean {
    return this.shared.slots.length < this.shared.options.maxChildren;
  }

  /**
   * Whether a namespace keeps more than half of the children busy with long flights that are not slow work. The others are
   * for other namespaces.
   */
  holdsTooMany(namespaceId: string, nowMs: number): boolean {
    let busy = 0;
    for (const { flight } of this.shared.slots) {
      if (!flight || flight.slow || flight.lanes.namespaceId !== namespaceId) continue;
      if (isLong(flight, nowMs, LONG_FLIGHT_MS)) busy++;
    }
    return busy > this.#part(2);
  }

  /**
   * Whether one more slow read may take a slot. One token has at most a quarter of the children, one database and one
   * namespace half of them, all together all but two: one of these is for slow work without a slot, one for quick work.
   * Reads without a token count for their database and namespace only.
   */
  mayTakeSlot(lanes: DatabaseLanes, tokenId: string | null): boolean {
    const held = { token: 0, database: 0, namespace: 0, all: 0 };
    for (const { flight } of this.shared.slots) {
      if (!flight?.slow?.hasSlot) continue;
      held.all++;
      if (flight.lanes.namespaceId === lanes.namespaceId) held.namespace++;
      if (flight.lanes === lanes) held.database++;
      if (tokenId !== null && flight.slow.tokenId === tokenId) held.token++;
    }
    const { maxChildren } = this.shared.options;
    return held.token < this.#part(4) && held.database < this.#part(2) && held.namespace < this.#part(2) &&
      held.all < Math.max(1, maxChildren - 2);
  }

  gates(lanes: DatabaseLanes, nowMs: number): SlowGates {
    return {
      mayTry: () => this.mayTry(lanes, nowMs),
      mayTakeSlot: (tokenId) => this.mayTakeSlot(lanes, tokenId),
      hadTurnMs: (tokenId) =>
        this.mayTakeTurn(lanes, tokenId) ? this.turns.hadMs(callerOf(lanes, tokenId).key) : null,
      beginTurn: (tokenId, turns) => this.turns.begin(callerOf(lanes, tokenId), nowMs, turns),
    };
  }

  /** Whether a read of a slow caller may be tried: one at a time, and for a while none after a slow try. */
  mayTry(lanes: DatabaseLanes, nowMs: number): boolean {
    return this.#mayTrySoon(lanes, nowMs) && !this.shared.slots.some(({ flight }) => isWithoutSlot(flight));
  }

  /** Whether a caller without a slot may have the turn of what has none, because nothing runs without a slot. */
  mayTakeTurn(lanes: DatabaseLanes, tokenId: string | null): boolean {
    return !this.#withSlot().has(callerOf(lanes, tokenId).key) &&
      !this.shared.slots.some(({ flight }) => isWithoutSlot(flight));
  }

  /** The database of the caller who comes first for that turn; null: somebody has it, or nobody waits for it. */
  firstForTurn(nowMs: number): DatabaseLanes | null {
    let withSlot: ReadonlySet<string> | null = null;
    let first: { readonly lanes: DatabaseLanes; readonly caller: TurnCaller } | null = null;
    for (const lanes of this.shared.waiting) {
      // Asked at every answer, where hardly ever anything is slow.
      if (!lanes.reads.hasSlow) continue;
      if (withSlot === null && this.shared.slots.some(({ flight }) => isWithoutSlot(flight))) return null;
      withSlot ??= this.#withSlot();
      for (const { tokenId, slow } of lanes.reads.slowWaiters(nowMs)) {
        const caller = callerOf(lanes, tokenId);
        if (slow === "none" || withSlot.has(caller.key)) continue;
        if (first === null || this.turns.comesLater(first.caller, [caller])) first = { lanes, caller };
      }
    }
    return first?.lanes ?? null;
  }

  /** Notes that a try was slow. */
  noteSlowTry({ lanes }: LaneFlight, nowMs: number): void {
    for (const [id, untilMs] of this.#noTryUntilMs) if (untilMs <= nowMs) this.#noTryUntilMs.delete(id);
    this.#noTryUntilMs.set(lanes.namespaceId, nowMs + TRY_PAUSE_MS);
  }

  /** Whether quick work waits that could start if a child were free. */
  isShort(nowMs: number): boolean {
    const { slots, waiting } = this.shared;
    // Where a child is ending, another one may start for those that wait.
    if (this.free !== null || this.mayGrow) return false;
    if (slots.some((slot) => slot.flight?.killed || slot.leaving)) return false;
    for (const lanes of waiting) if (lanes.quickWaits(nowMs)) return true;
    return false;
  }

  /** Whether slow work without a slot may go on: one at a time of its kind, and only while nobody waits for its child. */
  mayGoWithoutSlot(flight: LaneFlight, nowMs: number): boolean {
    const { slots } = this.shared;
    const { kind } = flight.work;
    if (this.isShort(nowMs)) return false;
    for (const { flight: other } of slots) {
      if (other !== flight && isWithoutSlot(other) && other?.work.kind === kind) return false;
    }
    if (kind !== "read") return true;
    const turn = flight.slow?.turn;
    const withSlot = this.#withSlot();
    const waiting = [...this.#waitForTurn(withSlot, nowMs)];
    if (turn && this.turns.isOver(turn, waiting, nowMs)) return false;
    if (!turn && this.turns.comesLater(callerOf(flight.lanes, flight.slow?.tokenId ?? null), waiting)) {
      return false;
    }
    // A caller without any slot has a turn as long as one that waits, a try too.
    if (turn && !withSlot.has(turn.key)) return true;
    for (const lanes of this.shared.waiting) {
      if (lanes.reads.tryWaits(nowMs) && this.#mayTrySoon(lanes, nowMs)) return false;
    }
    return true;
  }

  /** The callers that wait for the turn, or to try a read; those with a slot have no turn. */
  *#waitForTurn(withSlot: ReadonlySet<string>, nowMs: number): Iterable<TurnWaiter> {
    for (const lanes of this.shared.waiting) {
      const mayTry = this.#mayTrySoon(lanes, nowMs);
      for (const { tokenId, slow, tries } of lanes.reads.slowWaiters(nowMs)) {
        const caller = callerOf(lanes, tokenId);
        const isTry = tries && mayTry;
        if (isTry || (slow !== "none" && !withSlot.has(caller.key))) {
          yield { ...caller, isNew: isTry || slow === "new" };
        }
      }
    }
  }

  #withSlot(): Set<string> {
    const keys = new Set<string>();
    for (const { flight } of this.shared.slots) {
      if (flight?.slow?.hasSlot) keys.add(callerOf(flight.lanes, flight.slow.tokenId).key);
    }
    return keys;
  }

  #mayTrySoon({ namespaceId }: DatabaseLanes, nowMs: number): boolean {
    return nowMs >= (this.#noTryUntilMs.get(namespaceId) ?? -Infinity);
  }

  #part(of: number): number {
    return Math.max(1, Math.floor(this.shared.options.maxChildren / of));
  }
}

/** Whose turn it is: a token, or the database of an anonymous caller. */
export function callerOf(
  { databaseId, namespaceId }: DatabaseLanes,
  tokenId: string | null,
): TurnCaller {
  return { namespaceId, key: tokenId ?? databaseId };
}

/** Whether a flight is slow work, or a try, without a slot; one whose child is being ended does not count. */
function isWithoutSlot(flight: LaneFlight | null): boolean {
  return flight !== null && flight.slow !== null && !flight.slow.hasSlot && flight.killed === null;
}

/** Learns from the durations of a group of reads that has just been answered which callers are slow, and which texts long. */
export function noteTimes(
  { lanes, slow, startedMs }: LaneFlight,
  jobs: readonly CallJob[],
  outcomes: readonly WireOutcome[],
  nowMs: number,
): void {
  const tookMs = nowMs - startedMs;
  lanes.pace.note(tookMs, jobs.length);
  if (slow !== null && tookMs < SLOW_READ_CPU_MS) {
    for (const job of jobs) lanes.reads.forget(job);
  }
  if (slow !== null || (tookMs < LONG_FLIGHT_MS && !jobs[0]?.lasts)) return;
  for (const [index, outcome] of outcomes.entries()) {
    const job = jobs[index];
    if (!job || job.takenBack) continue;
    const ms = "ms" in outcome ? outcome.ms : 0;
    if (ms >= LONG_FLIGHT_MS) lanes.reads.charge(job, ms, nowMs);
    else if (job.lasts) lanes.reads.noteShort(job);
  }
}
