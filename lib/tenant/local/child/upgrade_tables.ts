// Brings the service's own tables of a database file to the form of this version.
import { isUpToDate, upgradedTableQuery, upgradeStatements } from "../../../sql/service_tables.ts";
import type { Connection } from "../../../engine/connection.ts";

/** False where the tables are of an older version. */
export function isCurrent(connection: Connection): boolean {
  const text = connection.internalRow(upgradedTableQuery)?.[0];
  return typeof text !== "string" || isUpToDate(text);
}

/** For a connection that writes, outside of a transaction. Throws what the engine throws. */
export function upgradeTables(connection: Connection): void {
  if (isCurrent(connection)) return;
  connection.internalRun("BEGIN IMMEDIATE");
  try {
    // Another child may have been faster.
    if (!isCurrent(connection)) { for (const sql of upgradeStatements) connection.internalRun(sql); }
    connection.internalRun("COMMIT");
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
  }
}
