// Translates what `node:sqlite` throws into failure kinds. A message may name tables and columns but never values:
// messages of constraints and of the compiler hold no values, and from messages of a running statement everything that
// may be a value is cut.
import type { SqlErrorKind } from "../core/errors.ts";

/** Thrown where a database's file is missing or empty. */
export class FileDamage extends Error {
  override readonly name = "FileDamage";
}

/** Why the engine did not run a statement to its end. */
export interface EngineFailure {
  readonly kind:
    | SqlErrorKind
    | ("denied" | "corrupt" | "full" | "busy" | "unavailable" | "affected" | "no_row")
    /** Of a migration: another one was applied first; rows would be lost that it does not delete. */
    | ("moved" | "rows_lost");
  /** The engine's own words, without values. */
  readonly message: string;
  readonly table: string | null;
  readonly columns: readonly string[];
  /** True: `message` is the text of the tenant's own RAISE. */
  readonly raised?: true;
  /** For the kind `affected`: the rows that the call would have changed. */
  readonly affected?: number;
}

/** SQLITE_CONSTRAINT without more: the code that servers give for every constraint, RAISE among them. */
const CONSTRAINT = 19;
/** SQLITE_CONSTRAINT_TRIGGER: RAISE and the RESTRICT of a foreign key. */
const TRIGGER = 1811;

const CONSTRAINTS: ReadonlyMap<number, EngineFailure["kind"]> = new Map([
  [275, "check_violation"],
  [531, "unknown"],
  [787, "foreign_key_violation"],
  [1043, "unknown"],
  [1299, "not_null_violation"],
  [1555, "unique_violation"],
  [TRIGGER, "unknown"],
  [2067, "unique_violation"],
  [2579, "unique_violation"],
  [3091, "type_mismatch"], // STRICT: "cannot store TEXT value in INTEGER column t.a"
]);

/** ON DELETE and ON UPDATE RESTRICT fail with these words under the code of a trigger. */
const RESTRICTED = "FOREIGN KEY constraint failed";

/** Failures that have no code of their own, found by their message. */
const GENERIC = 1;

/** Message beginnings for codes without details, as virtual tables and servers give. */
const CONSTRAINT_WORDS: readonly (readonly [words: string, kind: EngineFailure["kind"]])[] = [
  ["UNIQUE constraint failed", "unique_violation"],
  ["NOT NULL constraint failed", "not_null_violation"],
  ["CHECK constraint failed", "check_violation"],
  ["rtree constraint failed", "check_violation"],
  [RESTRICTED, "foreign_key_violation"],
  ["cannot store ", "type_mismatch"],
];

const PRIMARY: ReadonlyMap<number, EngineFailure["kind"]> = new Map([
  [5, "busy"],
  [6, "busy"],
  [7, "too_big"],
  [8, "readonly"],
  [10, "full"],
  [11, "corrupt"],
  [13, "full"],
  [14, "full"],
  [18, "too_big"],
  [20, "type_mismatch"],
  [23, "denied"],
  [26, "corrupt"],
]);

/** SQLite's messages for codes: `node:sqlite` leaves out the code when it opens a file or runs several statements at once. */
const WORDS: readonly (readonly [words: string, code: number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["out of memory", 7],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
];

/** Extended codes of I/O errors that mean a damaged file rather than a disk without room. */
const DAMAGE = new Set([522]);
/** A virtual table is inconsistent, as when a full-text index has lost its content; the file itself is not damaged. */
const VIRTUAL_TABLE = 267;

/** Classifies an error of the engine. `denial` is the guard's reason when it refused. */
export function engineFailure(error: unknown, denial: string | null): EngineFailure {
  const message = error instanceof Error ? error.message : "";
  const code = resultCode(error) ?? codeOfText(message);
  if (error instanceof FileDamage) return plainFailure("corrupt", message);
  if (isDiskFailure(error)) return plainFailure("full", "the disk did not take a copy of the database");
  if (code === undefined) return unknownFailure(error, message);
  const primary = code & 0xff;
  if (denial !== null || primary === 23) return plainFailure("denied", denial ?? "not authorized");
  if (primary === 19) return constraint(code, message);
  if (DAMAGE.has(code)) return plainFailure("corrupt", "disk I/O error");
  if (code === VIRTUAL_TABLE) {
    return plainFailure("unknown", "the rows of a virtual table do not fit together; rebuild its index");
  }
  const kind = PRIMARY.get(primary);
  if (kind) return plainFailure(kind, message);
  return compileFailure(message);
}

/** Failure kinds that a damaged file gives when the service reads it. */
const DAMAGE_KINDS: ReadonlySet<string> = new Set(["corrupt", "unknown_table", "unknown_column"]);

/** Whether SQLite had no memory: what it holds in this process is bounded. */
export function isOutOfMemory(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  return ((resultCode(error) ?? codeOfText(message) ?? 0) & 0xff) === 7;
}

/** The same of a failure: SQLite has these words for nothing else. */
export function lackedMemory({ kind, message }: EngineFailure): boolean {
  return kind === "too_big" && message === "out of memory";
}

/** Whether an error of the service's own reading means a damaged file, rather than a disk or another process. */
export function isDamage(error: unknown): boolean {
  return DAMAGE_KINDS.has(engineFailure(error, null).kind);
}

/** Classifies an error of a running statement: the engine may quote a parameter or a row's value, which is cut. */
export function runFailure(error: unknown, denial: string | null, sql: string): EngineFailure {
  const failure = engineFailure(error, denial);
  const code = resultCode(error);
  if (failure.kind === "denied" || code === undefined || (code & 0xff) !== GENERIC) return failure;
  const message = withoutValue(failure.message, sql);
  return message === failure.message ? failure : plainFailure(failure.kind, message);
}

/** FTS5's messages about its own commands: each begins with the command's name and holds no value. */
const COMMAND_REFUSED = /^'(?:delete-all|rebuild)' may (?:only|not) be used with a [a-z0-9 ]+$/;

/** Cuts what is quoted or follows a colon, unless the statement's own text contains it. */
function withoutValue(message: string, sql: string): string {
  // Two tables of the schema.
  if (COMMAND_REFUSED.test(message) || message.startsWith("foreign key mismatch - ")) return message;
  // These names come from the schema only, unless a checking PRAGMA names a table of that name.
  const named = /^(?:error in (?:table|view|trigger|index) |no such table: main\.)/.test(message);
  if (named && !/(?:foreign_key|integrity|quick)_check\b/i.test(sql)) return message;
  const [, words = message, rest = ""] = /^((?:fts5: )?[^'":]*(?:: )?)(.*)$/s.exec(message) ?? [];
  const [, quote = "", value = ""] = /^(['"]?)(.*)\1$/s.exec(rest) ?? [];
  return sql.includes(value) ? message : `${words}${quote}…${quote}`;
}

function codeOfText(message: string): number | undefined {
  return WORDS.find(([words]) => message.startsWith(words))?.[1];
}

/** Makes a failure that names no table and no column. */
export function plainFailure(kind: EngineFailure["kind"], message: string): EngineFailure {
  return { kind, message, table: null, columns: [] };
}

function constraint(code: number, message: string): EngineFailure {
  const kind = message === RESTRICTED
    ? "foreign_key_violation"
    : CONSTRAINTS.get(code) ?? CONSTRAINT_WORDS.find(([words]) => message.startsWith(words))?.[1] ??
      "unknown";
  // RAISE(ABORT, '…') carries the tenant's own message, which is meant for the caller.
  if (kind === "unknown" && isRaised(code, message)) return { ...plainFailure(kind, message), raised: true };
  if (kind === "unknown" || kind === "check_violation" || kind === "foreign_key_violation") {
    return plainFailure(kind, message);
  }
  const named = /(?:constraint failed:|cannot store \w+ value in \w+ column) (.+)$/s.exec(message)?.[1] ?? "";
  if (named.startsWith("index ")) return plainFailure(kind, message);
  const parts = named.split(", ").map((part) => part.split("."));
  const table = parts[0]?.[0] ?? null;
  return {
    kind,
    message,
    table: table === "" ? null : table,
    columns: parts.flatMap((part) => part[1] ? [part.slice(1).join(".")] : []),
  };
}

/** Whether the message is the tenant's own text. Without the trigger's code: unless it reads like the engine's own. */
function isRaised(code: number, message: string): boolean {
  return code === TRIGGER || (code === CONSTRAINT && !/constraint failed/i.test(message));
}

function compileFailure(message: string): EngineFailure {
  const column = /^(?:no such column: |table (.+) has no column named )(.+)$/s.exec(message);
  if (column) return unknownColumn(column[1], column[2] ?? "", message);
  const table = /^no such (?:table|view): (?:main\.)?(.+)$/s.exec(message)?.[1];
  if (table !== undefined) return { kind: "unknown_table", message, table, columns: [] };
  if (
    /syntax error|incomplete input|unrecognized token|has no column|has \d+ columns? but|values for \d+ columns|misuse of|no such function|wrong number of arguments/
      .test(message)
  ) {
    return plainFailure("syntax_error", message);
  }
  if (/datatype mismatch|cannot store/.test(message)) return plainFailure("type_mismatch", message);
  if (/too (?:big|many|long|large|deep|complex)|limit|at most \d+ tables|stack overflow/.test(message)) {
    return plainFailure("too_big", message);
  }
  if (/may not be modified|readonly/.test(message)) {
    return plainFailure("denied", "Writing a table that belongs to a virtual table");
  }
  return plainFailure("unknown", message);
}

function unknownColumn(table: string | undefined, name: string, message: string): EngineFailure {
  // For a name in double quotes the engine may add the hint that it is no string literal.
  const quoted = /^"(.*)"(?: - should this be a string literal.*)?$/s.exec(name)?.[1];
  const dot = quoted === undefined ? name.lastIndexOf(".") : -1;
  return {
    kind: "unknown_column",
    message,
    table: table ?? (dot > 0 ? name.slice(0, dot) : null),
    columns: [quoted ?? name.slice(dot + 1)],
  };
}

function unknownFailure(error: unknown, message: string): EngineFailure {
  if (/column index out of range|bind/i.test(message)) {
    return plainFailure("parameter_mismatch", "parameters do not match");
  }
  if (error instanceof RangeError) return plainFailure("too_big", "value out of range");
  return plainFailure("unknown", "the engine could not run the statement");
}

/** The system's messages for a disk that cannot be written; Deno gives a code to only some of them. */
const DISK_WORDS =
  /^(?:No space left on device|Disk quota exceeded|File too large|Input\/output error|Read-only file system) /;

/** Classifies an error of copying files, in which the engine has no part. */
function isDiskFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS"].includes(String(Reflect.get(error, "code"))) ||
    DISK_WORDS.test(error.message);
}

/** The extended result code of an error that the engine has thrown. */
function resultCode(error: unknown): number | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "errcode") : undefined;
  return typeof code === "number" ? code : undefined;
}
