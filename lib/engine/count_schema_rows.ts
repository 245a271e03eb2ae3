// Counts the rows that a change of the schema writes or removes, around its run.
import { type CountedRows, countedRows, noRows, type SchemaRows } from "../sql/schema_rows.ts";
import type { Connection } from "./connection.ts";
import { jsonRows } from "./row_preview.ts";

/** Call before the statement; what it returns right behind it, with the changes that the engine has counted. */
export function countSchemaRows(
  connection: Connection,
  rows: SchemaRows | undefined,
): (changes: number) => CountedRows {
  if (rows === undefined) return () => noRows;
  const count = (text: string | null) => text === null ? undefined : numberOf(connection, text);
  const before = count(rows.before);
  return (changes) => countedRows(rows, [before, count(rows.after)], changes);
}

/** A virtual table whose parts are gone has no rows that anybody could read. */
function numberOf(connection: Connection, text: string): number | undefined {
  try {
    return Number(jsonRows(connection, text, false)[0]?.[0] ?? 0);
  } catch {
    return undefined;
  }
}
