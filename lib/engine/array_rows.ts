// Statements whose rows are arrays of the engine's values: without the names of columns, of which two may be the same.
import type {} from "./node_sqlite.d.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EngineValue } from "../sql/words/sql_value.ts";

/** `big`: integers are bigints. Throws what the engine throws. */
export function arrayStatement(database: DatabaseSync, sql: string, { big = false } = {}): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  if (big) statement.setReadBigInts(true);
  return statement;
}

/** Guarantee: the rows are those of an `arrayStatement`; the declared type does not say what they are. */
export function arrayRows(rows: unknown): EngineValue[][] {
  return Array.isArray(rows) ? rows : [];
}

/** Guarantee: the row is one of an `arrayStatement`. */
export function arrayRow(row: unknown): EngineValue[] | undefined {
  return Array.isArray(row) ? row : undefined;
}
