// Brings the service's tables of a file that an older version made to this version's form.
import { serviceSchemaQuery, upgradeStatements } from "../../../sql/words/service_tables.ts";
import type { Connection } from "../../../engine/connection.ts";

/** Files that are remembered; each takes some 50 bytes. */
const MAX_KNOWN = 20_000;
/** Files whose tables have been found in this version's form, as `fileAt` names them. */
const known = new Set<string>();

/**
 * Whether the service's tables have this version's form. To look takes a tenth of opening a file to read. `file`: as `fileAt`
 * names it; where another file has got that name since, its log may be read in the form that it has, until it is written.
 */
export function isCurrent(connection: Connection, file: string | null): boolean {
  if (file !== null && known.has(file)) return true;
  if (missingIn(connection).length > 0) return false;
  if (file === null) return true;
  if (known.size >= MAX_KNOWN) known.clear();
  known.add(file);
  return true;
}

/** Brings the service's tables to this version's form, outside of a transaction. Throws what the engine throws. */
export function upgradeTables(connection: Connection): void {
  if (missingIn(connection).length === 0) return;
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
