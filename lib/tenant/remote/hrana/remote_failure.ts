// What can go wrong between the service and a remote engine, apart from the caller's SQL.
import type { BatchAnswer, StepResult } from "./hrana.ts";

/**
 * - `unreachable`: no answer, or one that is no Hrana; whether the request ran is not known.
 * - `not_sent`: the connection was refused; nothing ran.
 * - `stopped`: our own abort.
 * - `gone`: the server knows no such database.
 * - `corrupt`: the server's file of the database is damaged.
 * - `blocked`: the database moves elsewhere at this moment.
 * - `denied`: our token was not accepted.
 * - `over_quota`: the plan with the server's operator is used up, and no move of the database explains the refusal.
 * - `full`: the server has no room for what the request writes; nothing was committed.
 * - `out_of_files`: the server has as many files open as it may, and the database's are not among them; nothing ran.
 * - `lost_stream`: the transaction that the request belongs to is no more; the request did not run.
 * - `invalid_text`: a result holds text that the server cannot write.
 * - `unreadable`: the server could not read one of the statements, and ran none of them.
 */
export type RemoteReason =
  | "unreachable"
  | "not_sent"
  | "stopped"
  | "gone"
  | "corrupt"
  | "blocked"
  | "denied"
  | "over_quota"
  | "full"
  | "out_of_files"
  | "lost_stream"
  | "invalid_text"
  | "unreadable";

/** What is said before a request begins to run, or of a step instead of running it. */
export const NOTHING_RAN: readonly RemoteReason[] = ["not_sent", "gone", "denied", "blocked"];

/** Further facts of a failure. */
export interface RemoteFailureMore {
  readonly code?: string;
  /** The socket was cut, of a stream that had one: by HTTP the server may say why. */
  readonly cutSocket?: boolean;
  /** The stream that the server has left open. */
  readonly baton?: string | null;
  /** The location that it is about. */
  readonly location?: string;
  /** The server's time in unix milliseconds, by which a token that it refused is too old. */
  readonly expiredMs?: number;
}

/** The message never leaves this folder: it may hold the server's words or address. */
export class RemoteFailure extends Error {
  override readonly name = "RemoteFailure";

  constructor(
    readonly reason: RemoteReason,
    message: string = reason,
    readonly more: RemoteFailureMore = {},
  ) {
    super(message);
  }

  /** The same, about a location. */
  at(location: string): RemoteFailure {
    return new RemoteFailure(this.reason, this.message, { ...this.more, location });
  }
}

/** Whether what failed fails because the database itself is lost, and not because nobody could be asked. */
export function isLost(error: unknown): boolean {
  return error instanceof RemoteFailure && (error.reason === "gone" || error.reason === "corrupt");
}

const DAMAGE: ReadonlySet<string> = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB"]);
/** What SQLite says of a write that the disk did not take. */
const NO_ROOM: ReadonlySet<string> = new Set(["SQLITE_FULL", "SQLITE_IOERR"]);

/** What the engine's code says about the database's file or its disk; null: nothing. */
export function damageOf(code: string, message: string): RemoteFailure | null {
  if (DAMAGE.has(code)) return new RemoteFailure("corrupt", message);
  return NO_ROOM.has(code) ? new RemoteFailure("full") : null;
}

/** A failed request, by what the server says of it. */
export function serverFailure(status: number, text: string): RemoteFailure {
  if (/disk is full|no space left|no storage space/i.test(text)) return new RemoteFailure("full");
  if (/unable to open database file|too many open files/i.test(text)) {
    return new RemoteFailure("out_of_files");
  }
  return new RemoteFailure("unreachable", `status ${status}`);
}

/** Whether a server says that a text of its answer is no UTF-8: in the words of Rust's `Utf8Error`. */
export function isBrokenText(message: string): boolean {
  return /\b(?:invalid|incomplete) utf-8/i.test(message);
}

/** That the database is moving is said of single steps and concerns all of them. */
export function refuseMoving({ steps, baton }: BatchAnswer): BatchAnswer {
  if (steps.some((step) => step?.ok === false && step.code === "BLOCKED")) {
    throw new RemoteFailure("blocked", "blocked", { baton });
  }
  return { steps, baton };
}

/** The batch as a whole was refused; `baton` names the stream that is open all the same, with its transaction. */
export function batchFailure(message: string, code: string, baton: string | null): RemoteFailure {
  if (code === "BLOCKED") return new RemoteFailure("blocked", code, { baton });
  if (isBrokenText(message)) return new RemoteFailure("invalid_text", message, { baton });
  if (/baton|stream|TRANSACTION_TIMEOUT/i.test(code)) return new RemoteFailure("lost_stream");
  return new RemoteFailure("unreadable", message, { code, baton });
}

/** Throws where the server says of a step that it had taken the transaction away. It says so once. */
export function mustBeOpen(steps: readonly StepResult[]): void {
  const isOver = steps.some((step) => step?.ok === false && step.code.startsWith("TRANSACTION_TIMEOUT"));
  if (isOver) throw new RemoteFailure("lost_stream");
}
