// The only place that reads a clock. Everything else gets a `Clock` by argument, so that tests can turn it.

/** Wall time in unix milliseconds and a monotonic counter in milliseconds (its zero has no meaning). */
export interface Clock {
  now(): number;
  monotonicMs(): number;
}

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Milliseconds of units of time. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Milliseconds by which the clocks of two machines may differ, and which a correction may put a clock back. */
const MOST_APART_MS = 10 * MINUTE_MS;

/** Whether what is noted to have happened at `atMs` was noted by a clock that has been put back since, and not by one a little ahead. */
export function isOfClockPutBack(atMs: number, nowMs: number): boolean {
  return atMs - nowMs > MOST_APART_MS;
}

/** Rounds a duration in milliseconds to microseconds, as durations are shown and stored. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** `2026-11-20T22:45:12.123Z` for unix milliseconds. */
export function isoTime(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
