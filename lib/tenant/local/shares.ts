// How the children are shared out between those whose work takes long and everybody else.
import { type ChildSlot, isFree, type LaneFlight } from "./child_slot.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { SlowGates } from "../read_queue.ts";

/** Milliseconds after which a flight counts as long: others of its child's databases look for another child. */
export const LONG_FLIGHT_MS = 3;
/**
 * Milliseconds of processor time after which a read counts as slow work, and of the clock: it needs one of the slots for
 * that. On a machine that is busy with other things a quick read may last long, but it does not work long.
 */
export const SLOW_READ_CPU_MS = 50;
/** Milliseconds after which a read counts as slow. */
export const SLOW_READ_MS = 1000;
/** Milliseconds that a namespace makes no try after one that was slow: each may cost a child. */
const TRY_PAUSE_MS = 500;

/** What a scheduler has. */
export interface Shared {
  readonly slots: readonly ChildSlot[];
  readonly waiting: ReadonlySet<DatabaseLanes>;
  readonly options: { readonly maxChildren: number };
}

/** Decides which work may take a child. */
export class Shares {
  /** Namespace → when it may make a try again. */
  readonly #noTryUntilMs = new Map<string, number>();

  constructor(private readonly shared: Shared) {}

  /** One for quick work that has nothing to do. */
  get free(): ChildSlot | null {
    return this.shared.slots.find((slot) => isFree(slot) && !slot.lowered) ?? null;
  }

  /** One that is for slow work and has none. */
  get idleForSlow(): ChildSlot | null {
    return this.shared.slots.find((slot) => isFree(slot) && slot.lowered) ?? null;
  }

  /** One for slow work of a database whose quick work goes to `home`. */
  freeForSlow(home: ChildSlot | undefined): ChildSlot | null {
    return this.idleForSlow ?? this.shared.slots.find((slot) => isFree(slot) && slot !== home) ?? null;
  }

  get mayGrow(): boolean {
    return this.shared.slots.length < this.shared.options.maxChildren;
  }

  /**
   * Whether a namespace has its share of children busy, apart from slow work: one more than half of them, because the
   * others are for everybody else.
   */
  holdsTooMany(namespaceId: string, nowMs: number): boolean {
    let busy = 0;
    for (const { flight } of this.shared.slots) {
      if (!flight || flight.slow || flight.lanes.namespaceId !== namespaceId) continue;
      if (nowMs - flight.startedMs >= LONG_FLIGHT_MS) busy++;
    }
    return busy > this.#part(2);
  }

  /**
   * Whether one more slow read may take a slot beside those that have one: a quarter of the children for one token, half of
   * them for one database and one namespace, all but two together: one of those is for slow work without a slot, the
   * other one for what is quick. Anonymous callers count for their database only.
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
    };
  }

  /** Whether a read may show that it is quick, of a caller that had slow ones: one at a time, and slow ones seldom. */
  mayTry(lanes: DatabaseLanes, nowMs: number): boolean {
    return this.#mayTrySoon(lanes, nowMs) && !this.shared.slots.some(({ flight }) => isWithoutSlot(flight));
  }

  /** A try was slow. */
  noteSlowTry({ lanes }: LaneFlight, nowMs: number): void {
    for (const [id, untilMs] of this.#noTryUntilMs) if (untilMs <= nowMs) this.#noTryUntilMs.delete(id);
    this.#noTryUntilMs.set(lanes.namespaceId, nowMs + TRY_PAUSE_MS);
  }

  /** Whether slow work goes on without a slot: one at a time, and while it is in nobody's way. */
  mayGoWithoutSlot(flight: LaneFlight, nowMs: number): boolean {
    const { slots, waiting } = this.shared;
    const { kind } = flight.work;
    for (const { flight: other } of slots) {
      if (other !== flight && isWithoutSlot(other) && other?.work.kind === kind) return false;
    }
    // In the place of a child that ends comes one for those that wait.
    const isShort = this.free === null && !this.mayGrow &&
      !slots.some((slot) => slot.flight?.killed || slot.leaving);
    for (const lanes of waiting) {
      if (isShort && lanes.quickWaits(nowMs)) return false;
      if (kind === "read" && lanes.reads.tryWaits(nowMs) && this.#mayTrySoon(lanes, nowMs)) return false;
    }
    return true;
  }

  #mayTrySoon({ namespaceId }: DatabaseLanes, nowMs: number): boolean {
    return nowMs >= (this.#noTryUntilMs.get(namespaceId) ?? -Infinity);
  }

  #part(of: number): number {
    return Math.max(1, Math.floor(this.shared.options.maxChildren / of));
  }
}

/** Slow work, or what may be, that has no slot and is not being ended. */
function isWithoutSlot(flight: LaneFlight | null): boolean {
  return flight !== null && flight.slow !== null && !flight.slow.hasSlot && flight.killed === null;
}
