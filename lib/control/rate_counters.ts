// Counts of calls in windows of time, shared by all processes on one KV. A process takes leave for several calls at once
// in one atomic commit and spends it from memory, so that the hot path writes nothing. What it does not spend expires
// with the window: fewer calls than the limit may pass, never more.
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { keys } from "../store/keys.ts";
import { isKvFull, kvCommit, kvGet } from "../store/kv_call.ts";

/** Who is counted where. `client` is a keyed hash. */
export interface RateSubject {
  readonly databaseId: string;
  readonly slug: string;
  readonly client: string;
}

export interface RateWindow {
  /** What kind of window, and which: `minute` and `minute29834113`. */
  readonly name: string;
  readonly id: string;
  readonly limit: number;
  readonly endsAtMs: number;
}

export interface RateState {
  readonly window: RateWindow;
  /** Calls that may still pass in the window, as far as this process knows. */
  readonly remaining: number;
}

export interface RateOutcome {
  /** False: nothing was counted, in no window. */
  readonly admitted: boolean;
  readonly states: readonly RateState[];
}

interface Lease {
  readonly window: RateWindow;
  /** Calls that may pass without asking. */
  left: number;
  /** Of the window, by all processes, when it was last read; what is leased counts as taken. */
  taken: number;
  /** Of them, those taken last. */
  size: number;
  waiting: number;
  asking: Promise<void> | null;
}

/** A lease is this part of what is left, so that what another process needs stays there, and at most so many. */
const LEASE_PART = 16;
const MAX_LEASE = 4000;
/** From that size on a lease is extended while its last quarter is spent, so that nobody waits for it. */
const AHEAD_SIZE = 64;
/** Leases in memory; above, the oldest go, and what they had left with them. */
const MAX_LEASES = 50_000;
/** Attempts against other processes that take at the same moment. */
const MAX_ATTEMPTS = 64;
/** Milliseconds that a count outlives its window: clocks of processes differ. */
const AFTER_MS = 60_000;

/** Errors: `meter_unreachable`. */
export class RateCounters {
  readonly #leases = new Map<string, Lease>();

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Counts one call in every window of that moment, or in none. At once while leases last. */
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
    // Others may have been quicker; each round somebody gets leave or the limit is known to be reached.
    return await this.take(subject, windowsAt);
  }

  /** Whoever finds the lease empty all the same asks again and hears why. */
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
    this.#leases.delete(name);
    this.#leases.set(name, lease);
    if (this.#leases.size > MAX_LEASES) {
      const oldest = this.#leases.keys().next();
      if (!oldest.done) this.#leases.delete(oldest.value);
    }
    return lease;
  }

  /** Takes leave for some more calls; afterwards there is some, or the limit is reached. */
  async #extend({ databaseId, slug, client }: RateSubject, lease: Lease): Promise<void> {
    const { id, limit, endsAtMs } = lease.window;
    const key = keys.rateCount(databaseId, slug, id, client);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const entry = await kvGet(this.kv, key);
      // Here stands what KV had no room for: it is counted there with the next lease that it takes.
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
    }
    throw new AppError("meter_unreachable");
  }
}

/** A full KV is a file, and a file is one process's: the lease in memory is the count then. Errors: `meter_unreachable`. */
async function committedOrFull(atomic: Deno.AtomicOperation): Promise<boolean> {
  try {
    return await kvCommit(atomic);
  } catch (error) {
    if (isKvFull(error)) return true;
    throw error;
  }
}

/** Null while a lease must be extended first. */
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
