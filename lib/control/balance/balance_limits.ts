// Numbers for how processes take money out of a balance and give it back, each with its unit and its reason.

/** Milliseconds after which a silent owner's block may be taken: with a sweep every 10 s, in less than a minute. */
export const LEASE_MS = 40_000;
/** Milliseconds between two searches for blocks of dead processes. */
export const SWEEP_EVERY_MS = 10_000;
/** Milliseconds without a call after which a block goes back. */
export const IDLE_MS = 5_000;
/** Milliseconds that the record of a closed block stays, for an owner that has not seen it. */
export const CLOSED_BLOCK_KEPT_MS = 600_000;
/** Milliseconds for which a refusal is repeated without asking KV: a customer without money must not load it. */
export const REFUSED_MS = 200;
/** The longest wait of a call for money, in milliseconds. */
export const MAX_WAIT_MS = 10_000;

/** The smallest block that is asked for: 0.002 USD, 4000 requests or 800 rows written. */
export const MIN_BLOCK_NANO_USD = 2_000_000;
/** Seconds of recent spending that a block should last. */
export const BLOCK_SECONDS = 3;
/** A block takes at most one part in so many of what is free, so that every process gets some. */
export const BLOCK_SHARE = 8;
/**
 * Up to this size the share does not apply: 50 µUSD, 100 requests. Smaller blocks would mean more commits than calls.
 */
export const SMALL_BLOCK_NANO_USD = 50_000;
/** What a call is expected to cost before any was seen: 20 requests. */
export const FIRST_GUESS_NANO_USD = 10_000;

/**
 * What reads of a namespace may cost before they are booked, while KV has no room for that: 1 USD, 2 million
 * requests.
 */
export const TRUSTED_NANO_USD = 1_000_000_000;
/** Milliseconds for which one reading of the balance allows such reads; the next tick reads it again. */
export const TRUSTED_MS = 5_000;

/** Databases whose usage one commit books at most: KV takes 1000 changes in a commit. */
export const CHARGED_AT_ONCE = 400;
/**
 * Databases of a namespace that are booked every second, where so many are in use. Of more, a fifth is: to read and write
 * a usage record for each of two thousand would take a sixth of the time that their calls take.
 */
export const BOOKED_A_SECOND = 100;
/** Seconds within which what a database used is booked. */
export const BOOKED_WITHIN_SEC = 5;
