// From a remote engine's error to the failure kinds of the contract. The server names primary codes only.
import { type EngineFailure, plainFailure, runFailure } from "../../../engine/engine_failure.ts";
import { ResultTooLarge } from "../../../engine/result_json.ts";

/** What the server puts around the engine's message. */
const WRAPPING = /^SQLITE_\w+: |^SQL(?:ite| input) error: | \(at offset \d+\)$/g;

/** SQLite's codes by name (sqlite.org/rescode.html). */
const CODES: ReadonlyMap<string, number> = new Map([
  ["SQLITE_BUSY", 5],
  ["SQLITE_LOCKED", 6],
  ["SQLITE_NOMEM", 7],
  ["SQLITE_READONLY", 8],
  ["SQLITE_IOERR", 10],
  ["SQLITE_CORRUPT", 11],
  ["SQLITE_FULL", 13],
  ["SQLITE_TOOBIG", 18],
  ["SQLITE_CONSTRAINT", 19],
  ["SQLITE_MISMATCH", 20],
  ["SQLITE_AUTH", 23],
  ["SQLITE_NOTADB", 26],
]);

const GENERIC = 1;
/** All that is said of a row of a full-text table whose rowid is taken. */
const TAKEN = "constraint failed";

/** Errors of the server itself. Their messages may repeat the statement, so they are not passed on. */
const SERVER_ERRORS: ReadonlyMap<string, EngineFailure> = new Map([
  ["SQL_PARSE_ERROR", plainFailure("unknown", "the server does not run statements of this form")],
  ["RESPONSE_TOO_LARGE", plainFailure("result_too_large", "more than the server sends at once")],
  ["ARGS_INVALID", plainFailure("parameter_mismatch", "parameters do not match")],
  ["TRANSACTION_BUSY", plainFailure("busy", "the database is busy")],
  // The server has too many files open: there is room on its disk.
  ["SQLITE_CANTOPEN", plainFailure("unavailable", "the server cannot open the database")],
]);

/** `sql`: the caller's statement, if it is about one. */
export function stepFailure(
  { message, code }: { readonly message: string; readonly code: string },
  sql = "",
): EngineFailure {
  if (code === "ARGS_INVALID" && /too big/i.test(message)) {
    return plainFailure("too_big", "string or blob too big");
  }
  const server = SERVER_ERRORS.get(code);
  if (server) return server;
  if (/response is too large/i.test(message)) {
    return plainFailure("result_too_large", "more than the server sends at once");
  }
  const text = message.replaceAll(WRAPPING, "");
  if (code === "SQLITE_CONSTRAINT" && text === TAKEN) return plainFailure("unique_violation", text);
  const errcode = CODES.get(code) ?? GENERIC;
  return runFailure(Object.assign(new Error(text), { errcode }), null, sql);
}

/** The failure of a result that is too large. */
export function tooLarge(error: ResultTooLarge): EngineFailure {
  return plainFailure("result_too_large", error.message);
}
