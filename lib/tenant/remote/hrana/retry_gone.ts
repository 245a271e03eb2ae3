// sqld now and then says of a place that it opens or closes at this moment that there is none.
import { pause } from "./pause.ts";
import { RemoteFailure } from "./remote_failure.ts";

/** Times that a place which the server does not know is asked for, and milliseconds before the second time. */
const MAX_LOOKS = 5;
const LOOK_PAUSE_MS = 5;

/** What `ask` answers, which is asked again where the place is `gone`: nothing has run then. Throws what it throws. */
export async function retryGone<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const gone = error instanceof RemoteFailure && error.reason === "gone";
      if (!gone || attempt >= MAX_LOOKS) throw error;
      await pause(LOOK_PAUSE_MS * 4 ** (attempt - 1));
    }
  }
}
