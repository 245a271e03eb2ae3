// Tells the leases of dead processes from those of living ones, whose machines may have other clocks.
import type { Clock } from "../core/clock.ts";
import { putNewest } from "../core/put_newest.ts";

/** A record that its holder writes again before the lease is over. */
interface HeldRecord {
  readonly versionstamp: string;
  /** The end of the lease by the holder's clock. */
  readonly untilMs: number;
}

/** Milliseconds that clocks of machines may differ: a lease whose end is longer ago is over. */
const CLOCKS_APART_MS = 600_000;
/** Records in memory; beyond it the oldest are dropped, and watched anew. */
const MAX_WATCHED = 10_000;

/** What one process has seen of the leases of others. */
export class LeaseWatch {
  /** By the names of the records: since when they have been as they are, in monotonic milliseconds. */
  readonly #seen = new Map<string, { readonly versionstamp: string; readonly sinceMs: number }>();

  /** `isAlone`: no process on another machine has leases, so that their ends are told by the own clock. */
  constructor(
    private readonly clock: Clock,
    private readonly options: { readonly leaseMs: number; readonly isAlone: boolean },
  ) {}

  /** To be asked at each look at a record; the first one never ends a lease that may be a living process's. */
  isOver(name: string, { versionstamp, untilMs }: HeldRecord): boolean {
    const { leaseMs, isAlone } = this.options;
    if (untilMs + (isAlone ? 0 : CLOCKS_APART_MS) <= this.clock.now()) return true;
    const nowMs = this.clock.monotonicMs();
    const seen = this.#seen.get(name);
    if (seen?.versionstamp === versionstamp) return nowMs - seen.sinceMs >= leaseMs;
    putNewest(this.#seen, name, { versionstamp, sinceMs: nowMs }, MAX_WATCHED);
    return false;
  }
}
