// Lists a tenant's tables and views with their columns, for messages and listings.
import { isReservedName } from "../sql/service_tables.ts";
import type { CompileConnection } from "./compile_connection.ts";

/** A table or view of a tenant. */
export interface NamedTable {
  readonly name: string;
  readonly kind: "table" | "view" | "virtual" | "shadow";
  readonly columns: readonly string[];
}

/** Lists them by name, without the engine's and the service's own. */
export function listTables(connection: CompileConnection): NamedTable[] {
  const listed = connection.internalRows(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name",
  );
  const tables: NamedTable[] = [];
  for (const [name, type] of listed) {
    if (typeof name !== "string" || isReservedName(name)) continue;
    const kind = type === "view" || type === "virtual" || type === "shadow" ? type : "table";
    tables.push({ name, kind, columns: columnsOf(connection, name) });
  }
  return tables;
}

/** Reads no columns for a view whose tables are gone, so that the other tables' columns are still listed. */
function columnsOf(connection: CompileConnection, table: string): string[] {
  try {
    const rows = connection.internalRows("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", table);
    return rows.map(([column]) => String(column));
  } catch {
    return [];
  }
}
