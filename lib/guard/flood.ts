// Coarse flood control by address, before anything else is done for a request, in constant memory.
import type { AddressKey } from "./address_key.ts";

/** Milliseconds of one window; the rate is `limit` per window. */
const WINDOW_MS = 10_000;
const ROWS = 4;
const WIDTH_BITS = 16;
const WIDTH = 1 << WIDTH_BITS;

/**
 * A count-min sketch of two windows (Cormode and Muthukrishnan 2005, with conservative update): an address has four
 * counters, chosen by a hash with a seed of each process, and the smallest counts. It never undercounts. It
 * overcounts only when all four cells are shared: with 200 addresses above the limit at once, one innocent address in
 * 10^10 is refused with them. A counter never rises above the limit, so refused requests add nothing to others. It
 * takes two MiB for any number of addresses.
 */
export class FloodControl {
  #current = new Uint32Array(ROWS * WIDTH);
  #previous = new Uint32Array(ROWS * WIDTH);
  #startedMs = -Infinity;
  readonly #seeds = crypto.getRandomValues(new Uint32Array(4));
  readonly #cells = new Uint32Array(ROWS);

  /** `limit` counts requests of one address per 10 seconds; 0 lets everything pass. */
  constructor(private readonly limit: number) {}

  /**
   * Counts one request at `nowMs` (monotonic). 0: it may pass; otherwise the seconds to wait. The last window counts
   * with its share of the past 10 seconds.
   */
  admit(address: AddressKey, nowMs: number): number {
    if (this.limit === 0) return 0;
    if (nowMs - this.#startedMs >= WINDOW_MS) this.#turn(nowMs);
    this.#locate(address);
    const elapsed = (nowMs - this.#startedMs) / WINDOW_MS;
    const now = smallest(this.#current, this.#cells);
    const before = smallest(this.#previous, this.#cells);
    if (now + before * (1 - elapsed) >= this.limit) return waitSec(now, before, elapsed, this.limit);
    // Conservative update: cells with a higher count than this address has sent belong to others as well.
    for (const cell of this.#cells) {
      if (this.#current[cell] === now) this.#current[cell] = now + 1;
    }
    return 0;
  }

  #turn(nowMs: number): void {
    const idle = nowMs - this.#startedMs >= 2 * WINDOW_MS;
    const reused = this.#previous;
    this.#previous = this.#current;
    this.#current = reused.fill(0);
    if (idle) this.#previous.fill(0);
    this.#startedMs = idle ? nowMs : this.#startedMs + WINDOW_MS;
  }

  #locate(address: AddressKey): void {
    const [a = 0, b = 0, c = 0, d = 0] = this.#seeds;
    const first = mix(mix(address.low ^ a) + (address.high ^ b));
    const second = mix(mix(address.high ^ c) + (address.low ^ d)) | 1;
    for (let row = 0; row < ROWS; row++) {
      this.#cells[row] = row * WIDTH + ((first + Math.imul(row, second)) >>> (32 - WIDTH_BITS));
    }
  }
}

/** The 32-bit finaliser of MurmurHash3 (Austin Appleby, public domain): every input bit reaches every output bit. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function smallest(counts: Uint32Array, cells: Uint32Array): number {
  let least = Infinity;
  for (const cell of cells) {
    const count = counts[cell] ?? 0;
    if (count < least) least = count;
  }
  return least;
}

/**
 * Seconds until the sliding sum falls below the limit: within this window if the last one weighs enough, otherwise in
 * the next.
 */
function waitSec(now: number, before: number, elapsed: number, limit: number): number {
  const freeAt = now < limit ? 1 - (limit - now) / before : 2 - limit / now;
  return Math.max(1, Math.ceil((freeAt - elapsed) * WINDOW_MS / 1000));
}
