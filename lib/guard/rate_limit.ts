// The rate limit of one published endpoint, in UTC minutes and days, and the headers that tell about it.
import type {
  RateCounters,
  RateOutcome,
  RateState,
  RateSubject,
  RateWindow,
} from "../control/rate_counters.ts";

/** The limits of a specification. */
export interface RateLimit {
  readonly perMin?: number | undefined;
  readonly perDay?: number | undefined;
}

/** Whether a call passes, and the headers of its answer. */
export interface RateCheck {
  readonly admitted: boolean;
  /** Seconds until the call may pass; 0 when it passes now. */
  readonly retryAfterSec: number;
  /** Fields of draft-ietf-httpapi-ratelimit-headers-10: a policy for each window, and what is left of it. */
  readonly headers: Readonly<Record<string, string>>;
}

const MINUTE_SEC = 60;
const DAY_SEC = 86_400;

/** Counts the call. Errors: `meter_unreachable`. */
export function checkRate(
  counters: RateCounters,
  subject: RateSubject,
  { limit, nowMs }: { readonly limit: RateLimit; readonly nowMs: () => number },
): RateCheck | Promise<RateCheck> {
  const outcome = counters.take(subject, (now) => windowsOf(limit, now));
  return outcome instanceof Promise
    ? outcome.then((value) => toCheck(value, nowMs()))
    : toCheck(outcome, nowMs());
}

/** The windows of a moment. */
function windowsOf({ perMin, perDay }: RateLimit, nowMs: number): RateWindow[] {
  const windows: RateWindow[] = [];
  if (perMin !== undefined) windows.push(windowOf("minute", MINUTE_SEC, perMin, nowMs));
  if (perDay !== undefined) windows.push(windowOf("day", DAY_SEC, perDay, nowMs));
  return windows;
}

function windowOf(name: string, seconds: number, limit: number, nowMs: number): RateWindow {
  const number = Math.floor(nowMs / 1000 / seconds);
  return { name, id: `${name}${number}`, limit, endsAtMs: (number + 1) * seconds * 1000 };
}

function toCheck({ admitted, states }: RateOutcome, nowMs: number): RateCheck {
  const waits = states.filter(({ remaining }) => !admitted && remaining === 0)
    .map((state) => secondsLeft(state, nowMs));
  return {
    admitted,
    retryAfterSec: Math.max(0, ...waits),
    headers: {
      "ratelimit-policy": states.map(({ window: { name, limit } }) =>
        `"${name}";q=${limit};w=${name === "minute" ? MINUTE_SEC : DAY_SEC}`
      ).join(", "),
      "ratelimit": states.map((state) =>
        `"${state.window.name}";r=${state.remaining};t=${secondsLeft(state, nowMs)}`
      ).join(", "),
    },
  };
}

function secondsLeft({ window }: RateState, nowMs: number): number {
  return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
}
