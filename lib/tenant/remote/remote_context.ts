// What every part of a remote store works with, and the one way in which it speaks to a place.
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { BatchAnswer, BatchRequest, HranaStep, StepResult, StepRows } from "./hrana.ts";
import { type Fetch, sendBatch, type SendOptions } from "./hrana_client.ts";
import { Stopped, withDeadline } from "./deadline.ts";
import { RemoteFailure } from "./remote_failure.ts";
import type { RemotePlatform } from "./remote_platform.ts";

export interface RemoteContext {
  readonly platform: RemotePlatform;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch: Fetch;
  /** Milliseconds that one statement of a caller may run. */
  readonly queryTimeoutMs: number;
  /** Days that log and audit rows are kept. */
  readonly logDays: number;
  /** Days that snapshots are kept. */
  readonly snapshotDays: number;
}

export type Mode = "read" | "write";

/** Milliseconds for the service's own statements. */
export const OWN_TIMEOUT_MS = 15_000;

/** Times that a place which the server does not know is asked for, and milliseconds before the second time. */
const MAX_LOOKS = 4;
const LOOK_PAUSE_MS = 5;

/**
 * One round trip to a place. sqld now and then says of a place that it opens or closes at this moment that there is
 * none; nothing has run then, so it is asked again. Throws `RemoteFailure`.
 */
export async function send(
  { platform, fetch }: RemoteContext,
  { place, mode }: { readonly place: string; readonly mode: Mode },
  request: BatchRequest,
  options: SendOptions,
): Promise<BatchAnswer> {
  for (let attempt = 1;; attempt++) {
    try {
      return await sendBatch(fetch, await platform.endpoint(place, mode), request, options);
    } catch (error) {
      const gone = error instanceof RemoteFailure && error.reason === "gone" && request.baton === null;
      if (!gone || attempt >= MAX_LOOKS) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS * 4 ** (attempt - 1)));
    }
  }
}

/** The service's own statements in one transaction that is closed behind them. Throws `RemoteFailure`. */
export async function runOwn(
  context: RemoteContext,
  target: { readonly place: string; readonly mode: Mode },
  steps: readonly HranaStep[],
): Promise<readonly StepResult[]> {
  const request = { steps, baton: null, close: true };
  try {
    const answer = await withDeadline(
      OWN_TIMEOUT_MS,
      [],
      (signal) => send(context, target, request, { signal }),
    );
    return answer.steps;
  } catch (error) {
    throw error instanceof Stopped ? new RemoteFailure("unreachable", "no answer in time") : error;
  }
}

/** The rows of a step of the service's own; anything but success is the server's trouble. */
export function rowsAt(steps: readonly StepResult[], place: number): StepRows["rows"] {
  const step = steps[place];
  if (step?.ok) return step.rows;
  throw new RemoteFailure("unreachable", step ? step.message : "a step was left out");
}
