// What becomes of a failed request: one that cannot have left anything behind is sent again, where that is worth it, after
// as long as it should take; otherwise the caller is told why.
import { AppError } from "../../../core/errors.ts";
import { repeat } from "../hrana/repeat.ts";
import { Stopped } from "../hrana/deadline.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import type { RemoteConnection } from "./remote_connection.ts";

/** Times that a server which does not answer is asked again, and milliseconds before the first of them. */
export const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 50;
/** Times that a database which is moving is asked for again. */
const MAX_MOVING = 60;
/**
 * Milliseconds in which a request that leaves a transaction open is tried again. Where its answer is lost, the transaction
 * keeps the server's write lock for 5 s, and the next try waits that long.
 */
const RETRY_OPEN_MS = 4000;

/**
 * What `work` answers; again where the failure of a database lets it be tried again. `about` says which one has failed.
 * Errors: those of `pauseBefore`, and whatever else `work` throws.
 */
export function untilAnswered<T>(
  work: (attempt: number) => Promise<T>,
  about: (failure: RemoteFailure) => RemoteConnection,
  untilMs = Infinity,
): Promise<T> {
  return repeat(
    work,
    (error, attempt) =>
      error instanceof RemoteFailure ? pauseBefore(about(error), error, attempt, untilMs) : null,
  );
}

/** The `untilMs` of work that begins now and whose requests leave a transaction open. */
export function retryOpenUntil({ context }: RemoteConnection): number {
  return context.clock.monotonicMs() + RETRY_OPEN_MS;
}

/**
 * Milliseconds after which it may be tried again; a server that does not answer is asked until `untilMs`, by the monotonic
 * clock. Errors: `store_unavailable`, `store_over_quota`, `storage_full`, `database_busy`, `database_corrupt`.
 */
export async function pauseBefore(
  connection: RemoteConnection,
  failure: RemoteFailure,
  attempt: number,
  untilMs = Infinity,
): Promise<number> {
  const { context } = connection;
  const asked = failure.more.location ?? null;
  switch (failure.reason) {
    case "gone":
      if (!await connection.moved(asked)) throw new AppError("database_corrupt");
      if (attempt < MAX_MOVING) return 0;
      throw new AppError("store_unavailable");
    case "corrupt":
      throw new AppError("database_corrupt");
    case "blocked":
      if (attempt >= MAX_MOVING) throw new AppError("database_busy");
      return await connection.pauseWhileClosed(asked);
    case "over_quota":
      throw new AppError("store_over_quota");
    case "full":
      throw new AppError("storage_full");
    case "out_of_files":
    case "not_sent":
    case "unreachable":
    case "lost_stream":
      if (attempt >= MAX_RETRIES || context.clock.monotonicMs() >= untilMs) {
        throw new AppError("store_unavailable");
      }
      return FIRST_PAUSE_MS * 4 ** attempt;
    case "denied":
      throw new AppError("store_unavailable");
    default:
      context.log("warn", "tenant_request_refused", { reason: failure.reason });
      throw new AppError("store_unavailable");
  }
}

/**
 * What `work` answers. All failures of the server leave this folder here: without its words, and without its address.
 * Errors: `store_over_quota`, `storage_full`, `database_corrupt`; `store_unavailable` for whatever else the server did
 * not do; `AppError`s pass.
 */
export async function reachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof RemoteFailure ? error.reason : null;
    if (reason === "over_quota") throw new AppError("store_over_quota");
    if (reason === "full") throw new AppError("storage_full");
    if (reason === "corrupt") throw new AppError("database_corrupt");
    if (error instanceof RemoteFailure || error instanceof Stopped) throw new AppError("store_unavailable");
    throw error;
  }
}
