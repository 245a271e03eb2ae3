// Bounds the time that a caller's statements may take. Where the server answers nothing else either, the caller is told
// that the store is not there, and not that the statement took too long.
import { AppError } from "../../../core/errors.ts";
import { Stopped, withDeadline } from "../hrana/deadline.ts";
import { send } from "../server/remote_context.ts";
import { RemoteFailure, type RemoteReason } from "../hrana/remote_failure.ts";
import type { RemoteConnection } from "./remote_connection.ts";

/** Milliseconds in which the server must answer something else, when it has not answered the statements in time. */
const OTHERS_MS = 3000;
const SILENT: readonly RemoteReason[] = ["unreachable", "not_sent", "stopped"];

export interface StatementDeadline {
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when a caller does not wait any more. */
  readonly waiting: readonly (AbortSignal | null)[];
  /** Stops the work at once. */
  readonly giveWay?: AbortSignal;
}

/** As `withDeadline`. Errors: `store_unavailable` when the server answers nothing else either. */
export async function withStatementDeadline<T>(
  connection: RemoteConnection,
  { timeoutMs, waiting, giveWay }: StatementDeadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withDeadline(timeoutMs, waiting, work, giveWay);
  } catch (error) {
    const late = error instanceof Stopped && error.why === "timeout";
    if (late && !await answersOthers(connection)) throw new AppError("store_unavailable");
    throw error;
  }
}

/** Whether the server answers something else, on a stream of its own: that of the statements may still be at work. */
export async function answersOthers(connection: RemoteConnection): Promise<boolean> {
  const request = { steps: [{ stmt: { sql: "SELECT 1" } }], baton: null, close: true };
  try {
    const { location } = await connection.located();
    const signal = AbortSignal.timeout(OTHERS_MS);
    await send(connection.context, { location, mode: "read" }, request, { signal });
    return true;
  } catch (error) {
    // A refusal is an answer.
    return error instanceof RemoteFailure && !SILENT.includes(error.reason);
  }
}
