// Rows whose foreign key leads nowhere: a merge, which runs without foreign keys, must not leave more of them.
import type { Connection } from "./connection.ts";

export interface BrokenReference {
  readonly table: string;
  readonly rowid: string | number | null;
  readonly parent: string;
}

/** By a key that tells them apart; of some tables, or of all. */
export function brokenReferences(
  connection: Connection,
  tables: readonly string[] | null,
): Map<string, BrokenReference> {
  const broken = new Map<string, BrokenReference>();
  for (const table of tables ?? tablesWithReferences(connection)) {
    for (const [rowid, parent, id] of check(connection, table)) {
      const row = typeof rowid === "number" || typeof rowid === "string" ? rowid : null;
      broken.set(JSON.stringify([table, row, id]), { table, rowid: row, parent: String(parent) });
    }
  }
  return broken;
}

/** Those that refer to one of the tables, and the tables themselves where they refer to any. */
export function referringTables(connection: Connection, tables: ReadonlySet<string>): string[] {
  const lower = new Set([...tables].map((name) => name.toLowerCase()));
  const rows = connection.internalRows(
    'SELECT DISTINCT t.name, f."table" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f ' +
      "WHERE t.schema = 'main' AND t.type = 'table'",
  );
  const found = rows.filter(([child, parent]) =>
    lower.has(String(child).toLowerCase()) || lower.has(String(parent).toLowerCase())
  );
  return [...new Set(found.map(([child]) => String(child)))];
}

function tablesWithReferences(connection: Connection): string[] {
  return connection.internalRows(
    "SELECT DISTINCT t.name FROM pragma_table_list t, pragma_foreign_key_list(t.name) " +
      "WHERE t.schema = 'main' AND t.type = 'table'",
  ).map(([name]) => String(name));
}

/** A foreign key that the engine cannot check (no such parent, no unique key there) is not for a merge to judge. */
function check(connection: Connection, table: string) {
  try {
    return connection.internalRows("SELECT rowid, parent, fkid FROM pragma_foreign_key_check(?)", table);
  } catch {
    return [];
  }
}
