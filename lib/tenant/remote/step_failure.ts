// From a remote engine's error to the failure kinds of the contract. The server names primary codes only, so kinds of
// constraints are read off the engine's own words.
import type { EngineFailure } from "../tenant_store.ts";
import { engineFailure } from "../local/child/engine_failure.ts";
import { ResultTooLarge } from "../local/child/result_json.ts";

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
  ["SQLITE_CANTOPEN", 14],
  ["SQLITE_TOOBIG", 18],
  ["SQLITE_MISMATCH", 20],
  ["SQLITE_AUTH", 23],
  ["SQLITE_NOTADB", 26],
]);

/** Beginning of a constraint's message → its extended code. */
const CONSTRAINTS: readonly (readonly [RegExp, number])[] = [
  [/^UNIQUE constraint failed/, 2067],
  [/^NOT NULL constraint failed/, 1299],
  [/^CHECK constraint failed/, 275],
  [/^FOREIGN KEY constraint failed/, 787],
  [/^cannot store /, 3091],
];
const OTHER_CONSTRAINT = 19;
const GENERIC = 1;

/** Errors of the server itself. Their messages may repeat the statement, so they are not passed on. */
const SERVER_ERRORS: ReadonlyMap<string, EngineFailure> = new Map([
  ["SQL_PARSE_ERROR", plain("unknown", "the server does not run statements of this form")],
  ["RESPONSE_TOO_LARGE", plain("result_too_large", "more than the server sends at once")],
  ["ARGS_INVALID", plain("parameter_mismatch", "parameters do not match")],
  ["TRANSACTION_BUSY", plain("busy", "the database is busy")],
]);

export function stepFailure(
  { message, code }: { readonly message: string; readonly code: string },
): EngineFailure {
  const server = SERVER_ERRORS.get(code);
  if (server) return server;
  if (/response is too large/i.test(message)) {
    return plain("result_too_large", "more than the server sends at once");
  }
  const text = message.replaceAll(WRAPPING, "");
  // RAISE(ABORT, '…') carries the tenant's words, which are meant for the caller.
  const errcode = code === "SQLITE_CONSTRAINT"
    ? CONSTRAINTS.find(([form]) => form.test(text))?.[1] ?? OTHER_CONSTRAINT
    : CODES.get(code) ?? GENERIC;
  return engineFailure(Object.assign(new Error(text), { errcode }), null);
}

export function tooLarge(error: ResultTooLarge): EngineFailure {
  return plain("result_too_large", error.message);
}

export function plain(kind: EngineFailure["kind"], message: string): EngineFailure {
  return { kind, message, table: null, columns: [] };
}
