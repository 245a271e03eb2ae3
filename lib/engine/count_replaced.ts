// Counts the rows that a statement replaces, around its run.
import { countsText, replacedRows, type Replacing } from "../sql/replaced_rows.ts";
import type { Connection } from "./connection.ts";
import { jsonRows } from "./row_preview.ts";

/** Call before the statement; what it returns right behind it, with the changes that the engine has counted. */
export function countReplaced(
  connection: Connection,
  replacing: Replacing | undefined,
): (all: number) => number {
  if (replacing === undefined) return () => 0;
  const counts = () => jsonRows(connection, countsText(replacing), false)[0]?.map(Number) ?? [];
  const before = counts();
  return (all) => replacedRows(replacing, [before, counts()], all);
}
