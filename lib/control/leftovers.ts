// Notes about storage that no record names: a crash between two steps would otherwise leave it for ever.
import { type Clock, isOfClockPutBack } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvPage } from "../store/kv_call.ts";
import type { LeftoverRecord } from "../store/records.ts";

/** Milliseconds after which the process that left a note counts as dead. */
const ABANDONED_MS = 600_000;
/** Notes read in one sweep; the next one takes the rest. */
const NOTES_AT_ONCE = 500;

/** Something that nobody finishes. */
export interface Abandoned {
  readonly id: string;
  readonly kind: LeftoverRecord["kind"];
}

/** Every method's errors: `meter_unreachable`. */
export class Leftovers {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Removes the note, once the thing is gone. */
  async end(id: string): Promise<void> {
    await kvCommit(this.kv.atomic().delete(keys.leftover(id)));
  }

  /**
   * Takes the notes that are older than ten minutes. Each is given out once, and its first process can no longer
   * finish.
   */
  async takeAbandoned(): Promise<Abandoned[]> {
    const now = this.clock.now();
    const notes = await kvPage(this.kv, { prefix: keys.leftovers(), after: null, limit: NOTES_AT_ONCE });
    const taken: Abandoned[] = [];
    for (const { key, value, versionstamp } of notes) {
      const id = key.at(-1);
      // A note of a clock that has been put back since begins anew: it would wait for as long.
      const isAhead = isOfClockPutBack(value.sinceMs, now);
      if (typeof id !== "string" || (!isAhead && now - value.sinceMs < ABANDONED_MS)) continue;
      const claim = this.kv.atomic().check({ key, versionstamp }).set(key, { ...value, sinceMs: now });
      if (await kvCommit(claim) && !isAhead) taken.push({ id, kind: value.kind });
    }
    return taken;
  }
}
