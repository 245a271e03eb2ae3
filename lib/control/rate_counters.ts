// Counts of calls in windows of time, shared by all processes on one KV. A process leases several calls at once in
// one atomic commit and spends them from memory, so that the hot path writes nothing. What it does not spend expires
// with the window: fewer calls than the limit may pass, never more.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { isKvFull, kvCommit, kvGet } from "../store/kv_call.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";
import { putNewest } from "../core/put_newest.ts";

/** Who is counted, and where. `client` is a keyed hash. */
export interface RateSubject {
  readonly databaseId: string;
  readonly slug: string;
  readonly client: string;
}

/** A limit in a window. */
export interface RateWindow {
  /** The kind of window and its number: `minute` and `minute29834113`. */
  readonly name: string;
  readonly id: string;
  readonly limit: number;
  readonly endsAtMs: number;
}

/** What is left of a window. */
export interface RateState {
  readonly window: RateWindow;
  /** Calls that may still pass in the window, as far as this process knows. */
  readonly remaining: number;
}

/** Whether a call was counted. */
export interface RateOutcome {
  /** False: the call was counted in no window. */
  readonly admitted: boolean;
  readonly states: readonly RateState[];
}

interface Lease {
  readonly window: RateWindow;
  /** Calls that may pass without asking KV. */
  left: number;
  /** Calls of the window by all processes when it was last read; leased calls count as made. */
  taken: number;
  /** The size of the last lease. */
  size: number;
  waiting: number;
  asking: Promise<void> | null;
}

/**
 * A lease takes one part in so many of what is left, so that other processes get theirs, and at most so many calls.
 */
const LEASE_PART = 16;
const MAX_LEASE = 4000;
/** From that size on, a lease is extended while its last quarter is spent, so that nobody waits. */
const AHEAD_SIZE = 64;
/** Leases in memory; beyond it the oldest are dropped with what they had left. */
const MAX_LEASES = 50_000;
/** Milliseconds that a count outlives its window: clocks differ between processes. */
const AFTER_MS = 60_000;

/** Errors: `meter_unreachable`. */
export class RateCounters {
  readonly #leases = new Map<string, Lease>();

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Counts one call in every window of that moment, or in none. It answers at once while leases last. */
  take(
    subject: RateSubject,
    windowsAt: (nowMs: number) => readonly RateWindow[],
  ): RateOutcome | Promise<RateOutcome> {
    const leases = windowsAt(this.clock.now()).map((window) => this.#lease(subject, window));
    const outcome = spend(leases);
    if (outcome === null) return this.#askFor(subject, windowsAt, leases);
    for (const lease of leases) this.#askAhead(subject, lease);
    return outcome;
  }

  async #askFor(
    subject: RateSubject,
    windowsAt: (nowMs: number) => readonly RateWindow[],
    leases: readonly Lease[],
  ): Promise<RateOutcome> {
    for (const lease of leases) {
      if (lease.left > 0) continue;
      lease.waiting++;
      try {
        await (lease.asking ??= this.#extend(subject, lease).finally(() => lease.asking = null));
      } finally {
        lease.waiting--;
      }
    }
    // Others may have been faster; each round somebody gets a lease, or the limit is known to be reached.
    return await this.take(subject, windowsAt);
  }

  /** A caller who finds the lease empty asks again and learns why. */
  #askAhead(subject: RateSubject, lease: Lease): void {
    const { left, size, taken, window, asking } = lease;
    if (size < AHEAD_SIZE || left * 4 > size || asking !== null || taken >= window.limit) return;
    lease.asking = this.#extend(subject, lease).catch(() => {}).finally(() => lease.asking = null);
  }

  #lease(subject: RateSubject, window: RateWindow): Lease {
    const name = `${subject.databaseId}/${subject.slug}/${window.name}/${subject.client}`;
    const known = this.#leases.get(name);
    if (known?.window.id === window.id && known.window.limit === window.limit) return known;
    const lease: Lease = { window, left: 0, taken: 0, size: 0, waiting: 0, asking: null };
    putNewest(this.#leases, name, lease, MAX_LEASES);
    return lease;
  }

  /** Leases some more calls; afterwards there is a lease, or the limit is reached. */
  async #extend({ databaseId, slug, client }: RateSubject, lease: Lease): Promise<void> {
    const { id, limit, endsAtMs } = lease.window;
    const key = keys.rateCount(databaseId, slug, id, client);
    return await untilCommitted(async () => {
      const entry = await kvGet(this.kv, key);
      // Counts for which KV had no room: the next lease writes them.
      const taken = Math.max(entry.value ?? 0, lease.taken);
      if (taken >= limit) {
        lease.taken = taken;
        return;
      }
      const free = limit - taken;
      const share = Math.min(MAX_LEASE, Math.max(Math.ceil(free / LEASE_PART), lease.waiting));
      const next = taken + Math.min(free, share);
      const expireIn = Math.max(0, endsAtMs - this.clock.now()) + AFTER_MS;
      if (await committedOrFull(this.kv.atomic().check(entry).set(key, next, { expireIn }))) {
        lease.size = next - taken;
        lease.left += lease.size;
        lease.taken = next;
        return;
      }
      return FASTER;
    });
  }
}

/**
 * A full KV is a file, which only one process uses: then the lease in memory is the count. Errors:
 * `meter_unreachable`.
 */
async function committedOrFull(atomic: Deno.AtomicOperation): Promise<boolean> {
  try {
    return await kvCommit(atomic);
  } catch (error) {
    if (isKvFull(error)) return true;
    throw error;
  }
}

/** The outcome from memory; null while a lease must be extended first. */
function spend(leases: readonly Lease[]): RateOutcome | null {
  const reached = leases.some(({ left, taken, window }) => left === 0 && taken >= window.limit);
  if (!reached) {
    if (leases.some(({ left }) => left === 0)) return null;
    for (const lease of leases) lease.left--;
  }
  return { admitted: !reached, states: leases.map(stateOf) };
}

function stateOf({ window, left, taken }: Lease): RateState {
  return { window, remaining: Math.max(0, window.limit - taken) + left };
}
