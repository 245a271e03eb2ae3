// What can go wrong between the service and a remote engine, apart from the caller's SQL.
import type { StepResult } from "./hrana.ts";

/**
 * - `unreachable`: no answer, or one that is no Hrana; whether the request ran is not known.
 * - `not_sent`: the connection was refused; nothing ran.
 * - `stopped`: our own abort.
 * - `gone`: the server knows no such database.
 * - `blocked`: the database moves elsewhere at this moment.
 * - `denied`: our token was not accepted.
 * - `lost_stream`: the transaction that the request belongs to is no more; the request did not run.
 * - `invalid_text`: a result holds text that the server cannot write.
 * - `unreadable`: the server could not read one of the statements, and ran none of them.
 */
export type RemoteReason =
  | "unreachable"
  | "not_sent"
  | "stopped"
  | "gone"
  | "blocked"
  | "denied"
  | "lost_stream"
  | "invalid_text"
  | "unreadable";

/** The message never leaves this folder: it may hold the server's words or address. */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";

  constructor(readonly reason: RemoteReason, message: string = reason, readonly code = "") {
    super(message);
  }
}

/** An error of one step; that the database is moving concerns all of them. */
export function stepError(message: string, code: string): StepResult {
  if (code === "BLOCKED") throw new RemoteFailure("blocked");
  return { ok: false, message, code };
}

/** The batch as a whole was refused. */
export function batchFailure(message: string, code: string): RemoteFailure {
  if (code === "BLOCKED") return new RemoteFailure("blocked");
  if (/invalid utf-8/i.test(message)) return new RemoteFailure("invalid_text");
  if (/baton|stream|TRANSACTION_TIMEOUT/i.test(code)) return new RemoteFailure("lost_stream");
  return new RemoteFailure("unreadable", message, code);
}
