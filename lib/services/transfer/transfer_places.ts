// How many exports and imports of this process work at a time. Work takes a processor and up to 400 MB; a file that is still
// being received takes neither, so that slow uploads keep nobody from working.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { exportLimits, importLimits } from "../../core/limits_of_transfers.ts";
import { pause } from "../../core/pause.ts";

/** Milliseconds between two looks of an import that waits. */
const LOOK_MS = 100;

/** An import: of a file that is being received, that waits, or that is worked on. */
interface Place {
  readonly namespaceId: string;
}

/** The exports of the process. */
export interface WorkingExports {
  /** The namespaces of those at work. */
  namespaces(): readonly string[];
  /** Ends one that holds its place for a slow client, of this namespace or, with null, of any; false: there is none. */
  endSlow(namespaceId: string | null): boolean;
}

/** All places of a process. */
export class TransferPlaces {
  /** From the first byte of a file until nothing more is done with it. */
  readonly #uploads: Place[] = [];
  /** With its file received, the one that has waited longest first. */
  readonly #waiting: Place[] = [];
  /** At work. */
  readonly #imports: Place[] = [];

  constructor(private readonly clock: Clock, private readonly exports: WorkingExports) {}

  /** Errors: `too_many_transfers` while as many work as may, or wait for it. */
  requireRoom(namespaceId: string): void {
    for (let full = this.#fullFor(namespaceId); full !== null; full = this.#fullFor(namespaceId)) {
      if (!this.exports.endSlow(full === "own" ? namespaceId : null)) {
        throw new AppError("too_many_transfers");
      }
    }
  }

  /** Which places a newcomer finds taken: those of its namespace (`own`) or of everybody. */
  #fullFor(namespaceId: string): "own" | "all" | null {
    const waiting = this.#waiting.map((one) => one.namespaceId);
    const taken = Map.groupBy([...this.#working(), ...waiting], (one) => one);
    const { running, runningOfNamespace } = exportLimits;
    // Of what waits no more counts than its namespace lets work.
    const all = [...taken.values()].reduce((sum, own) => sum + Math.min(own.length, runningOfNamespace), 0);
    const own = taken.get(namespaceId)?.length ?? 0;
    if (own >= runningOfNamespace) return "own";
    return all >= running ? "all" : null;
  }

  /** Receives a file, and whatever is done with it. Errors: `too_many_transfers`, those of the work. */
  async duringUpload<Value>(namespaceId: string, work: () => Promise<Value>): Promise<Value> {
    const own = this.#uploads.filter((one) => one.namespaceId === namespaceId).length;
    const { uploads, uploadsOfNamespace } = importLimits;
    if (this.#uploads.length >= uploads || own >= uploadsOfNamespace) {
      throw new AppError("too_many_transfers");
    }
    const me = { namespaceId };
    this.#uploads.push(me);
    try {
      return await work();
    } finally {
      remove(this.#uploads, me);
    }
  }

  /**
   * Works on a file once there is a place. Errors: `too_many_transfers` where there is none for too long; the reason of the
   * signal; those of the work.
   */
  async duringWork<Value>(
    namespaceId: string,
    signal: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<Value> {
    const me = { namespaceId };
    this.#waiting.push(me);
    try {
      await this.#placed(me, signal);
      return await work();
    } finally {
      remove(this.#waiting, me);
      remove(this.#imports, me);
    }
  }

  /** Resolves when it is at work: the look and the step are one, so that nobody comes between. */
  async #placed(me: Place, signal: AbortSignal): Promise<void> {
    const untilMs = this.clock.monotonicMs() + importLimits.waitMs;
    for (;;) {
      signal.throwIfAborted();
      if (this.#isNext(me)) {
        remove(this.#waiting, me);
        this.#imports.push(me);
        return;
      }
      if (this.#makesRoom(me)) continue;
      if (this.clock.monotonicMs() >= untilMs) throw new AppError("too_many_transfers");
      await pause(LOOK_MS);
    }
  }

  /** Whether there is a place for it, and nobody before it could have that. */
  #isNext(me: Place): boolean {
    const working = this.#working();
    return working.length < exportLimits.running &&
      this.#waiting.find((one) => !hasItsPart(one, working)) === me;
  }

  /** Ends a slow export that is in the way of `me`, if `me` waits longest in its namespace; false: there is none. */
  #makesRoom(me: Place): boolean {
    const working = this.#working();
    if (this.#waiting.find(({ namespaceId }) => namespaceId === me.namespaceId) !== me) return false;
    if (hasItsPart(me, working)) return this.exports.endSlow(me.namespaceId);
    return working.length >= exportLimits.running && this.exports.endSlow(null);
  }

  #working(): string[] {
    return [...this.exports.namespaces(), ...this.#imports.map(({ namespaceId }) => namespaceId)];
  }
}

/** Whether as many of its namespace work as may. */
function hasItsPart({ namespaceId }: Place, working: readonly string[]): boolean {
  return working.filter((one) => one === namespaceId).length >= exportLimits.runningOfNamespace;
}

function remove(places: Place[], one: Place): void {
  const at = places.indexOf(one);
  if (at >= 0) places.splice(at, 1);
}
