// Keeps descriptions of tables and columns with them when they are renamed.
import type { Stmt } from "sqlite3-parser";

/** What is renamed. */
export interface Rename {
  readonly table: string;
  /** Null: the table itself is renamed. */
  readonly column: string | null;
  readonly to: string;
}

/** What a statement renames; null for other statements. */
export function renameOf(statement: Stmt): Rename | null {
  if (statement.type !== "AlterTableStmt") return null;
  const { tblName, body } = statement;
  const table = tblName.objName.text;
  if (body.type === "RenameToAlterTableBody") return { table, column: null, to: body.name.text };
  if (body.type !== "RenameColumnAlterTableBody") return null;
  return { table, column: body.old.text, to: body.new.text };
}

const NAME = '"((?:[^"]|"")*)"';
const WRITTEN = new RegExp(`^ALTER TABLE ${NAME} RENAME (?:COLUMN ${NAME} )?TO (?:${NAME}|(\\w+))$`);

/** The same for a statement that `schema_diff.ts` has written, where there is no parser. */
export function writtenRename(sql: string): Rename | null {
  const [, table, column, quoted, bare] = WRITTEN.exec(sql) ?? [];
  if (table === undefined) return null;
  const plain = (name: string) => name.replaceAll('""', '"');
  return {
    table: plain(table),
    column: column === undefined ? null : plain(column),
    to: bare ?? plain(quoted ?? ""),
  };
}

/** Statements of the service for the end of the rename's transaction. Names match in any case. */
export function moveDescriptions({ table, column, to }: Rename): { sql: string; params: string[] }[] {
  const move = "UPDATE OR REPLACE _service_meta_description SET";
  if (column === null) {
    return [{ sql: `${move} table_name = ? WHERE table_name = ? COLLATE NOCASE`, params: [to, table] }];
  }
  // The empty name means the table itself.
  if (column === "" || to === "") return [];
  const where = "WHERE table_name = ? COLLATE NOCASE AND column_name = ? COLLATE NOCASE";
  return [{ sql: `${move} column_name = ? ${where}`, params: [to, table, column] }];
}
