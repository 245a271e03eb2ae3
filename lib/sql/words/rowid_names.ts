// The names of the row id.
import { foldName } from "./names.ts";

/** The names that the engine gives to the row id of a table, each unless a column is called so. */
export const rowidNames: readonly string[] = ["rowid", "_rowid_", "oid"];

/** A name of the row id that no column of the table has, in whatever case; null where columns have all of them. */
export function freeRowidName(columns: readonly string[]): string | null {
  const taken = new Set(columns.map(foldName));
  return rowidNames.find((name) => !taken.has(name)) ?? null;
}
