// How much of Deno KV a namespace's answers of keyed calls, its proposed calls, and its approvals may take. They are cheap to make,
// and all namespaces share that file.
import { type Clock, HOUR_MS } from "../core/clock.ts";
import { MAX_KEPT_BYTES, MAX_SMALL_BYTES, smallLimits } from "../core/limits.ts";

/** What was kept in one hour, that in which it came. */
interface KeptHour {
  /** Of those that count by their bytes. */
  readonly bytes: number;
  /** How many others. */
  readonly small: number;
}

/** Bytes. */
interface KeptBounds {
  readonly keptBytes: number;
  /** Of one that does not count as bytes. */
  readonly smallBytes: number;
}

const usualBounds: KeptBounds = { keptBytes: MAX_KEPT_BYTES, smallBytes: MAX_SMALL_BYTES };

/** What this process has kept for each namespace of late. */
export class KeptRoom {
  /** By namespace: hour → what was kept, in the order of time. */
  readonly #kept = new Map<string, Map<number, KeptHour>>();

  /** `keepMs`: how long it stays. */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly keepMs: number,
    private readonly bounds: KeptBounds = usualBounds,
  ) {}

  /**
   * Whether there is room for so many bytes, and takes it. What is small has a room of its own, whatever large things have taken: it
   * may be an answer that tells a token, once.
   */
  take(namespaceId: string, bytes: number): boolean {
    const hour = Math.floor(this.clock.now() / HOUR_MS);
    const hours = this.#kept.get(namespaceId) ?? new Map<number, KeptHour>();
    const isSmall = bytes <= this.bounds.smallBytes;
    const own = isSmall ? { bytes: 0, small: 1 } : { bytes, small: 0 };
    let all = own;
    for (const [at, kept] of hours) {
      // Also those of a clock that has been put back since, which would take the room until their time has come and gone.
      if (Math.abs(hour - at) * HOUR_MS > this.keepMs) hours.delete(at);
      else all = sum(all, kept);
    }
    if (isSmall ? all.small > smallLimits.kept : all.bytes > this.bounds.keptBytes) return false;
    this.#kept.set(namespaceId, hours.set(hour, sum(own, hours.get(hour) ?? { bytes: 0, small: 0 })));
    return true;
  }
}

function sum(one: KeptHour, other: KeptHour): KeptHour {
  return { bytes: one.bytes + other.bytes, small: one.small + other.small };
}
