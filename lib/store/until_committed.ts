// Changes that others may get in the way of: made again while somebody is faster, a bounded number of times.
import { AppError } from "../core/errors.ts";

/** Attempts before the keys count as too busy. */
const MAX_ATTEMPTS = 64;
/** Milliseconds, at most, before the second attempt; later ones wait longer. */
const PAUSE_MS = 4;
const MAX_PAUSE_MS = 100;

/** What an attempt answers when its commit was refused, because somebody was faster. */
export const FASTER: unique symbol = Symbol("somebody was faster");

/**
 * What the first attempt answers that is not `FASTER`. Each reads anew what it depends on, and checks it in its commit.
 * Errors: its own, and `meter_unreachable` when others were faster every time.
 */
export async function untilCommitted<Outcome>(
  attempt: () => Promise<Outcome | typeof FASTER>,
): Promise<Outcome> {
  for (let count = 1; count <= MAX_ATTEMPTS; count++) {
    const outcome = await attempt();
    if (outcome !== FASTER) return outcome;
    // At random, so that those who have met do not meet again.
    const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_MS * count) * Math.random();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new AppError("meter_unreachable");
}
