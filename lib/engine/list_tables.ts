// Lists a tenant's tables and views with their columns, for messages and listings.
import type { Reference } from "../sql/hints/known_tables.ts";
import { isReservedName } from "../sql/words/service_tables.ts";
import type { CompileConnection } from "./compile_connection.ts";

/** A table or view of a tenant. */
export interface NamedTable {
  readonly name: string;
  readonly kind: "table" | "view" | "virtual" | "shadow";
  readonly columns: readonly string[];
  /** The column that is the table's rowid (`INTEGER PRIMARY KEY`), which takes integers only; null: none is. */
  readonly rowid: string | null;
  /** Its foreign keys. */
  readonly references: readonly Reference[];
}

/** Lists them by name, without the engine's and the service's own. */
export function listTables(connection: CompileConnection): NamedTable[] {
  const listed = connection.internalRows(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name",
  );
  const tables: NamedTable[] = [];
  const references = referencesOf(connection);
  for (const [name, type] of listed) {
    if (typeof name !== "string" || isReservedName(name)) continue;
    const kind = type === "view" || type === "virtual" || type === "shadow" ? type : "table";
    tables.push({ name, kind, ...columnsOf(connection, name), references: references.get(name) ?? [] });
  }
  return tables;
}

/** Reads no columns for a view whose tables are gone, so that the other tables' columns are still listed. */
function columnsOf(connection: CompileConnection, table: string): Pick<NamedTable, "columns" | "rowid"> {
  try {
    const rows = connection.internalRows(
      "SELECT name, pk, upper(type) = 'INTEGER' FROM pragma_table_xinfo(?) WHERE hidden <> 1",
      table,
    );
    const keys = rows.filter(([, pk]) => Number(pk) > 0);
    const [key] = keys;
    const isRowid = key !== undefined && keys.length === 1 && Number(key[2]) === 1;
    return { columns: rows.map(([column]) => String(column)), rowid: isRowid ? String(key[0]) : null };
  } catch {
    return { columns: [], rowid: null };
  }
}

/** By table, in the order of their columns. */
function referencesOf(connection: CompileConnection): ReadonlyMap<string, Reference[]> {
  const rows = connection.internalRows(
    `SELECT t.name, k."from", k."table", k."to", k.on_delete FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS k
      WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, k.id DESC, k.seq`,
  );
  const found = new Map<string, Reference[]>();
  for (const [name, column, table, toColumn, onDelete] of rows) {
    const own = found.get(String(name)) ?? [];
    own.push({
      column: String(column),
      table: String(table),
      toColumn: toColumn === null ? null : String(toColumn),
      onDelete: String(onDelete),
    });
    found.set(String(name), own);
  }
  return found;
}
