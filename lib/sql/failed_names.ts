// Which table and columns a failure is about, where the engine's words alone do not tell.
import type { SqlErrorKind } from "../core/errors.ts";
import type { KnownTables, SqlFailure } from "./sql_error.ts";
import { tableAliases } from "./table_aliases.ts";

/** A failure with the engine's message. */
export interface ToldFailure extends SqlFailure {
  readonly message: string;
}

/** Whether the names of the schema are needed: for near matches, or to read names that hold dots and commas. */
export function asksForNames({ kind, message }: Pick<ToldFailure, "kind" | "message">): boolean {
  if (kind === "unknown_table" || kind === "unknown_column") return true;
  return constrained(kind, message)?.split(", ").some((part) => part.split(".").length !== 2) ?? false;
}

/** The same failure by names that there are; as it was where it names none of them. */
export function failedNames(failure: ToldFailure, sql: string, known: KnownTables): SqlFailure {
  const { kind, message, table, columns } = failure;
  if (kind === "unknown_column" && table !== null) return { kind, table: meant(table, sql, known), columns };
  const text = asksForNames(failure) ? constrained(kind, message) : null;
  if (text === null) return { kind, table, columns };
  for (const { name, columns } of known) {
    const found = columnsIn(text, `${name}.`, columns);
    if (found !== null) return { kind, table: name, columns: found };
  }
  return { kind, table, columns };
}

/** What stands for `table.column, table.column` in the message of such a constraint. */
function constrained(kind: SqlErrorKind, message: string): string | null {
  if (kind !== "unique_violation" && kind !== "not_null_violation") return null;
  return /constraint failed: (.+)$/s.exec(message)?.[1] ?? null;
}

function columnsIn(text: string, prefix: string, columns: readonly string[]): string[] | null {
  if (!text.startsWith(prefix)) return null;
  const rest = text.slice(prefix.length);
  for (const column of columns) {
    if (rest === column) return [column];
    const more = rest.startsWith(`${column}, `)
      ? columnsIn(rest.slice(column.length + 2), prefix, columns)
      : null;
    if (more !== null) return [column, ...more];
  }
  return null;
}

/** The table that the statement calls by that name. */
function meant(table: string, sql: string, known: KnownTables): string {
  const wanted = table.replace(/^main\./i, "").toLowerCase();
  const name = tableAliases(sql).get(wanted)?.toLowerCase() ?? wanted;
  return known.find((one) => one.name.toLowerCase() === name)?.name ?? table;
}
