// The door through which failures of the server leave this folder: without its words, and without its address.
import { AppError } from "../../core/errors.ts";
import { Stopped } from "./hrana/deadline.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";

/**
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
