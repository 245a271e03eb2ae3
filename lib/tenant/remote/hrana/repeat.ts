// Asking once more after a failure, a bounded number of times.
import { RemoteFailure } from "./remote_failure.ts";
import { pause } from "../../../core/pause.ts";

/** Times that a database which the server does not know is asked for again, and milliseconds before the first of them. */
const MAX_GONE = 4;
const FIRST_GONE_PAUSE_MS = 5;
/** Times that what was cut off is asked for again, and milliseconds before the first of them. */
const MAX_CUT_OFF = 3;
const FIRST_CUT_OFF_PAUSE_MS = 20;

/**
 * What `ask` answers. `pauseMs` says after how many milliseconds it is asked again behind a failure, or null: not any more,
 * and may throw another error instead. `attempt` counts from 0.
 */
export async function repeat<T>(
  ask: (attempt: number) => Promise<T>,
  pauseMs: (error: unknown, attempt: number) => number | null | Promise<number | null>,
): Promise<T> {
  for (let attempt = 0;; attempt++) {
    try {
      return await ask(attempt);
    } catch (error) {
      const ms = await pauseMs(error, attempt);
      if (ms === null) throw error;
      if (ms > 0) await pause(ms);
    }
  }
}

/**
 * What `ask` answers, which is asked again where the database is `gone`: nothing has run then, and sqld now and then says
 * of a database that it opens or closes at this moment that there is none. Throws what `ask` throws.
 */
export function retryGone<T>(ask: () => Promise<T>): Promise<T> {
  return repeat(ask, (error, attempt) => {
    const gone = error instanceof RemoteFailure && error.reason === "gone";
    return gone && attempt < MAX_GONE ? FIRST_GONE_PAUSE_MS * 4 ** attempt : null;
  });
}

/**
 * What `ask` answers, which is asked again where its connection was cut off: only for what may run twice, because nobody
 * knows whether it ran. A busy server cuts off more than one. Throws what `ask` throws.
 */
export function retryCutOff<T>(ask: () => Promise<T>): Promise<T> {
  return repeat(
    ask,
    (error, attempt) =>
      isCutOff(error) && attempt < MAX_CUT_OFF ? FIRST_CUT_OFF_PAUSE_MS * 4 ** attempt : null,
  );
}

/** Whether a connection was cut off, so that nobody knows what has become of the request. */
export function isCutOff(error: unknown): boolean {
  return error instanceof RemoteFailure && (error.reason === "unreachable" || error.reason === "lost_stream");
}
