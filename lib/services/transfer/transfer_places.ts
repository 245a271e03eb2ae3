// How many exports and imports of this process work at a time. Work takes a processor and up to 400 MB; a file that is still
// being received takes neither, so that slow uploads keep nobody from working.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { exportLimits, importLimits } from "../../core/limits_of_transfers.ts";

/** Milliseconds between two looks of an import that waits. */
const LOOK_MS = 100;

/** An import that has received its file. */
interface Waiting {
  readonly namespaceId: string;
}

/** All places of a process. */
export class TransferPlaces {
  /** Namespaces of the files that are being received, or wait. */
  readonly #uploads: string[] = [];
  /** Namespaces of the imports at work. */
  readonly #imports: string[] = [];
  /** The one that has waited longest first. */
  readonly #waiting: Waiting[] = [];

  /** `exports`: the namespaces of the exports at work. */
  constructor(private readonly clock: Clock, private readonly exports: () => readonly string[]) {}

  /** Errors: `too_many_transfers` while as many work as may, or wait for it. */
  requireRoom(namespaceId: string): void {
    const waiting = this.#waiting.map((one) => one.namespaceId);
    const taken = Map.groupBy([...this.#working(), ...waiting], (one) => one);
    const { running, runningOfNamespace } = exportLimits;
    // Of what waits no more counts than its namespace lets work.
    const all = [...taken.values()].reduce((sum, own) => sum + Math.min(own.length, runningOfNamespace), 0);
    const own = taken.get(namespaceId)?.length ?? 0;
    if (all >= running || own >= runningOfNamespace) throw new AppError("too_many_transfers");
  }

  /** Receives a file, and whatever is done with it. Errors: `too_many_transfers`, those of the work. */
  async duringUpload<Value>(namespaceId: string, work: () => Promise<Value>): Promise<Value> {
    const own = this.#uploads.filter((one) => one === namespaceId).length;
    const { uploads, uploadsOfNamespace } = importLimits;
    if (this.#uploads.length >= uploads || own >= uploadsOfNamespace) {
      throw new AppError("too_many_transfers");
    }
    return await during(this.#uploads, namespaceId, work);
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
    await during(this.#waiting, { namespaceId }, (me) => this.#turn(me, signal));
    return await during(this.#imports, namespaceId, work);
  }

  async #turn(me: Waiting, signal: AbortSignal): Promise<void> {
    const untilMs = this.clock.monotonicMs() + importLimits.waitMs;
    for (;;) {
      signal.throwIfAborted();
      if (this.#isNext(me)) return;
      if (this.clock.monotonicMs() >= untilMs) throw new AppError("too_many_transfers");
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Whether there is a place for it, and nobody before it could have that. */
  #isNext(me: Waiting): boolean {
    const working = this.#working();
    const isBlocked = ({ namespaceId }: Waiting) =>
      working.filter((one) => one === namespaceId).length >= exportLimits.runningOfNamespace;
    return working.length < exportLimits.running && this.#waiting.find((one) => !isBlocked(one)) === me;
  }

  #working(): string[] {
    return [...this.exports(), ...this.#imports];
  }
}

/** Does the work while the list has the entry. */
async function during<Entry, Value>(
  list: Entry[],
  entry: Entry,
  work: (entry: Entry) => Promise<Value>,
): Promise<Value> {
  list.push(entry);
  try {
    return await work(entry);
  } finally {
    list.splice(list.indexOf(entry), 1);
  }
}
