// Finds a row of a built file that refers to no row.
import type { Connection } from "../../../engine/connection.ts";
import type { EngineValue } from "../../../sql/words/sql_value.ts";

/** The first one: its table, its rowid, and the table that it refers to. `tables`: all that there are. */
export function brokenReference(
  connection: Pick<Connection, "internalRow">,
  tables: Iterable<string>,
): EngineValue[] | undefined {
  try {
    return connection.internalRow("PRAGMA foreign_key_check");
  } catch (error) {
    if (!isMismatch(error)) throw error;
  }
  // One key that cannot be checked ends the check of all: the other tables are checked alone.
  for (const table of tables) {
    try {
      const broken = connection.internalRow("SELECT * FROM pragma_foreign_key_check(?)", table);
      if (broken !== undefined) return broken;
    } catch (error) {
      if (!isMismatch(error)) throw error;
    }
  }
  return undefined;
}

/** A key fits no unique index of the table that it refers to. SQLite makes such a table, but neither writes nor checks it. */
function isMismatch(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("foreign key mismatch");
}
