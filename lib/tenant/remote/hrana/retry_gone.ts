// sqld now and then says of a database that it opens or closes at this moment that there is none.
import { RemoteFailure } from "./remote_failure.ts";
import { repeat } from "./repeat.ts";

/** Times that a database which the server does not know is asked for again, and milliseconds before the first of them. */
const MAX_RETRIES = 4;
const FIRST_PAUSE_MS = 5;

/** What `ask` answers, which is asked again where the database is `gone`: nothing has run then. Throws what it throws. */
export function retryGone<T>(ask: () => Promise<T>): Promise<T> {
  return repeat(ask, (error, attempt) => {
    const gone = error instanceof RemoteFailure && error.reason === "gone";
    return gone && attempt < MAX_RETRIES ? FIRST_PAUSE_MS * 4 ** attempt : null;
  });
}
