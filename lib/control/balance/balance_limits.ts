// Numbers that shape how processes take money out of a balance and give it back, each with its unit and its reason.

/** Milliseconds of wall time after which a silent owner's block may be taken: with a sweep every 10 s under a minute. */
export const LEASE_MS = 40_000;
/** Milliseconds between two sweeps. */
export const SWEEP_EVERY_MS = 10_000;
/** Milliseconds without a call after which a block goes back. */
export const IDLE_MS = 5_000;
/** Milliseconds that a closed block's record stays, for an owner that has not heard of it. */
export const CLOSED_BLOCK_KEPT_MS = 600_000;
/** Milliseconds for which a refusal stands without asking KV again: a broke customer must not load it. */
export const REFUSED_MS = 200;
/** Milliseconds that a call waits at most for its turn when money is short. */
export const MAX_WAIT_MS = 10_000;

/** Smallest block that is wanted: 0.002 USD, 4000 requests or 800 rows written. */
export const MIN_BLOCK_NANO_USD = 2_000_000;
/** Seconds of recent spending that a block is to last. */
export const BLOCK_SECONDS = 3;
/** A block takes at most this part of what is free, so that every process gets some. */
export const BLOCK_SHARE = 8;
/** Up to here the share does not count: 50 µUSD, 100 requests. Smaller blocks would be more commits than calls. */
export const SMALL_BLOCK_NANO_USD = 50_000;
/** What a call is taken to cost before any was seen: 20 requests. */
export const FIRST_GUESS_NANO_USD = 10_000;

/** What reads of a namespace may cost before it is booked, while KV has no room for it: 1 USD, 2 million requests. */
export const TRUSTED_NANO_USD = 1_000_000_000;
/** Milliseconds for which a look at the balance lets reads go on so; the next tick looks again. */
export const TRUSTED_MS = 5_000;
