// Finds the table and columns of a failure where the engine's message alone does not tell.
import type { SqlErrorKind } from "../../core/errors.ts";
import type { SqlFailure } from "./sql_error.ts";
import type { StatementNames } from "../grammar/statement_names.ts";
import type { KnownTables } from "./known_tables.ts";

const SEPARATOR = ", ";
/** The longest list of names that is divided: the steps grow with the third power, in the service's own process. */
const MAX_LENGTH = 500;

/** A failure with the engine's message. */
export interface ToldFailure extends SqlFailure {
  readonly message: string;
}

/** Whether the names of the schema are needed: for similar names, or to read names with dots and commas. */
export function asksForNames({ kind, message }: Pick<ToldFailure, "kind" | "message">): boolean {
  if (kind === "unknown_table" || kind === "unknown_column" || kind === "foreign_key_violation") return true;
  if (isRowidMismatch({ kind, message })) return true;
  const names = constrained(kind, message);
  if (names === null || names.length > MAX_LENGTH) return false;
  return names.split(SEPARATOR).some((part) => part.split(".").length !== 2);
}

/** What is no integer was written into a rowid; the engine says the same of a LIMIT, which is no column's. */
function isRowidMismatch({ kind, message }: Pick<ToldFailure, "kind" | "message">): boolean {
  return kind === "type_mismatch" && message === "datatype mismatch";
}

/** What is known about the statement that failed. */
interface FailedIn {
  readonly sql: string;
  /** The table that it writes. */
  readonly target: string | null;
  /** Null when they are not known. */
  readonly names: StatementNames | null;
  readonly known: KnownTables;
}

/** The failure with names of the schema; unchanged where it names none of them. */
export function failedNames(failure: ToldFailure, { sql, target, names, known }: FailedIn): SqlFailure {
  const { kind, message, table, columns } = failure;
  if (isRowidMismatch(failure) && target !== null && !/\blimit\b/i.test(sql)) {
    const written = known.find(({ name }) => name.toLowerCase() === target.toLowerCase());
    return written?.rowid
      ? { kind, table: written.name, columns: [written.rowid] }
      : { kind, table, columns };
  }
  if (kind === "unknown_column" && table !== null) {
    const qualifier = table.replace(/^main\./i, "");
    const written = message.startsWith("no such column: ") ? { qualifier } : {};
    return { kind, table: meant(qualifier, names?.called ?? [], known) ?? table, columns, ...written };
  }
  const text = asksForNames(failure) ? constrained(kind, message) : null;
  if (text === null) return { kind, table, columns };
  for (const { name, columns } of known) {
    const found = columnsIn(text, `${name}.`, columns);
    if (found !== null) return { kind, table: name, columns: found };
  }
  return { kind, table, columns };
}

/** The part of a constraint's message that reads `table.column, table.column`. */
function constrained(kind: SqlErrorKind, message: string): string | null {
  if (kind !== "unique_violation" && kind !== "not_null_violation") return null;
  return /constraint failed: (.+)$/s.exec(message)?.[1] ?? null;
}

/** Each offset in the text is tried once, however many ways lead to it. */
function columnsIn(text: string, prefix: string, columns: readonly string[]): string[] | null {
  const named = new Set(columns);
  const ends = endsIn(text, prefix);
  /** The columns up to the offset where the next one begins. */
  const reached = new Map<number, readonly string[]>([[prefix.length, []]]);
  if (!text.startsWith(prefix)) return null;
  for (const [start, before] of reached) {
    for (const end of ends) {
      const column = end < start ? "" : text.slice(start, end);
      if (!named.has(column)) continue;
      if (end === text.length) return [...before, column];
      const next = end + SEPARATOR.length + prefix.length;
      if (!reached.has(next)) reached.set(next, [...before, column]);
    }
  }
  return null;
}

/** Whether a column's name may end here: before another one, or at the end of the text. */
function endsIn(text: string, prefix: string): number[] {
  const ends: number[] = [];
  const next = SEPARATOR + prefix;
  for (let at = text.indexOf(next); at >= 0; at = text.indexOf(next, at + 1)) ends.push(at);
  return [...ends, text.length];
}

/** The table that the statement calls by that name; null where it calls none or several so. */
function meant(qualifier: string, called: StatementNames["called"], known: KnownTables): string | null {
  const wanted = qualifier.toLowerCase();
  const tables = called.filter(({ name }) => name.toLowerCase() === wanted)
    .map(({ table }) => table?.toLowerCase());
  const [name = wanted, ...others] = new Set(tables);
  return others.length > 0 ? null : known.find((one) => one.name.toLowerCase() === name)?.name ?? null;
}
