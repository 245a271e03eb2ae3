// Asking once more after a failure, a bounded number of times.
import { pause } from "./pause.ts";

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
