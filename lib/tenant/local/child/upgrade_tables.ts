// Brings the service's tables of a file that an older version made to this version's form.
import { serviceSchemaQuery, upgradeStatements } from "../../../sql/service_tables.ts";
import type { Connection } from "../../../engine/connection.ts";

/** Whether the service's tables have this version's form. */
export function isCurrent(connection: Connection): boolean {
  return missingIn(connection).length === 0;
}

/** Brings the service's tables to this version's form, outside of a transaction. Throws what the engine throws. */
export function upgradeTables(connection: Connection): void {
  if (isCurrent(connection)) return;
  connection.internalRun("BEGIN IMMEDIATE");
  try {
    // Another child may have done it meanwhile.
    for (const sql of missingIn(connection)) connection.internalRun(sql);
    connection.internalRun("COMMIT");
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
  }
}

function missingIn(connection: Connection): string[] {
  return upgradeStatements(connection.internalRows(serviceSchemaQuery).map(([sql]) => String(sql)));
}
