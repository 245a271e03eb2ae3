// Requests that cannot have left anything behind are sent again, where that is worth it: after as long as it should take, or
// the caller is told why not.
import { AppError } from "../../core/errors.ts";
import { repeat } from "./hrana/repeat.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import type { RemoteTenant } from "./remote_tenant.ts";

/** Times that a server which does not answer is asked again, and milliseconds before the first of them. */
export const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 50;
/** Times that a database which is moving is asked for again, and milliseconds between them. */
const MAX_MOVING = 60;
const MOVING_PAUSE_MS = 250;

/** Milliseconds in which a database that was opened again must answer, and in which it is not opened once more. */
const OPENING_MS = 1000;
const OPENED_MS = 10_000;

/**
 * What `work` answers; again where the failure of a database lets it be tried again. `about` says which one has failed.
 * Errors: those of `pauseBefore`, and whatever else `work` throws.
 */
export function untilAnswered<T>(
  work: (attempt: number) => Promise<T>,
  about: (failure: RemoteFailure) => RemoteTenant,
): Promise<T> {
  return repeat(
    work,
    (error, attempt) => error instanceof RemoteFailure ? pauseBefore(about(error), error, attempt) : null,
  );
}

/**
 * Milliseconds after which it may be tried again. Errors: `store_unavailable`, `store_over_quota`, `storage_full`,
 * `database_busy`, `database_corrupt`.
 */
export async function pauseBefore(
  tenant: RemoteTenant,
  failure: RemoteFailure,
  attempt: number,
): Promise<number> {
  const { context } = tenant;
  switch (failure.reason) {
    case "gone":
      if (!await tenant.moved()) throw new AppError("database_corrupt");
      if (attempt < MAX_MOVING) return 0;
      throw new AppError("store_unavailable");
    case "corrupt":
      throw new AppError("database_corrupt");
    case "blocked": {
      if (attempt >= MAX_MOVING) throw new AppError("database_busy");
      if (await tenant.moved()) return 0;
      const seen = await tenant.located();
      const nowMs = context.clock.now();
      const openMs = Math.abs(nowMs - tenant.openedMs);
      if (seen.isClaimed || openMs < OPENING_MS) return MOVING_PAUSE_MS;
      // It is not the service that keeps it closed.
      if (openMs < OPENED_MS) throw new AppError("store_over_quota");
      // Who closed it has not lived to open it again.
      if (!await tenant.openAgain(seen)) return MOVING_PAUSE_MS;
      tenant.openedMs = nowMs;
      return 0;
    }
    case "over_quota":
      throw new AppError("store_over_quota");
    case "full":
      throw new AppError("storage_full");
    case "out_of_files":
    case "not_sent":
    case "unreachable":
    case "lost_stream":
      if (attempt >= MAX_RETRIES) throw new AppError("store_unavailable");
      return FIRST_PAUSE_MS * 4 ** attempt;
    case "denied":
      throw new AppError("store_unavailable");
    default:
      context.log("warn", "tenant_request_refused", { reason: failure.reason });
      throw new AppError("store_unavailable");
  }
}
