// The engine says that the disk is full when a table with AUTOINCREMENT has no number left: that is the statement's failure.
import type { CompileConnection } from "./compile_connection.ts";
import { compileStatement } from "./compile_statement.ts";
import type { EngineFailure } from "./engine_failure.ts";

/** Tables without a number left. An error where no table has AUTOINCREMENT. */
export const USED_UP_TABLES = "SELECT name FROM sqlite_sequence WHERE seq = 9223372036854775807";

/** The failure by its real name where the statement inserts into one of those tables, else as it is. */
export function usedUpFailure(
  failure: EngineFailure,
  usedUp: readonly string[],
  actions: readonly string[],
): EngineFailure {
  const table = usedUp.find((name) => actions.includes(`insert ${name}`));
  if (table === undefined) return failure;
  return { kind: "unknown", message: `AUTOINCREMENT of ${table} has no number left`, table, columns: [] };
}

/** The same, asked of the connection on which the statement has just failed. */
export function unlessUsedUp(
  failure: EngineFailure,
  connection: CompileConnection,
  sql: string,
): EngineFailure {
  if (failure.kind !== "full") return failure;
  const has = connection.internalRow("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'");
  const usedUp = has ? connection.internalRows(USED_UP_TABLES).map(([name]) => String(name)) : [];
  if (usedUp.length === 0) return failure;
  const compiled = compileStatement(connection, { sql, changesSchema: false }, null);
  return compiled.ok ? usedUpFailure(failure, usedUp, compiled.facts.actions) : failure;
}
