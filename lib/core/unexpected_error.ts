// What nobody expects: the log tells what it was, and the caller is told nothing of it.
import { AppError } from "./errors.ts";
import type { Log } from "./log.ts";

/** Characters of a message in the log. */
const MAX_MESSAGE = 200;

/** Logs it by the id of its request. `internal`, for the caller. */
export function unexpectedError(log: Log, requestId: string, error: unknown): AppError {
  const { name, message } = error instanceof Error ? error : new Error("");
  // A parser repeats what it could not read, which may be a value or a secret.
  const told = error instanceof SyntaxError ? "" : message.split("\n", 1)[0] ?? "";
  log("error", "request_failed", { requestId, error: name, message: told.slice(0, MAX_MESSAGE) });
  return new AppError("internal");
}
