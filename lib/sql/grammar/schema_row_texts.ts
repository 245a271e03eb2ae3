// How to count the rows that a change of the schema writes or removes, from its text and from what the engine says
// about it.
import type { CreateIndexStmt, Stmt } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import { quoteIdentifier, quoteText } from "../words/quote.ts";
import type { SchemaRows } from "./uncounted_rows.ts";

/** An index that REINDEX rebuilds. `sql` is null for one that belongs to a constraint of the table. */
export interface BuiltIndex {
  readonly table: string;
  readonly sql: string | null;
}

/** For statements whose text is enough; null for others and for those that write no rows. */
export function writtenRows(root: Stmt, sql: string): SchemaRows | null {
  switch (root.type) {
    case "CreateTableStmt": {
      if (root.body.type !== "AsSelectCreateTableBody") return null;
      const name = root.tblName.objName.text;
      const before = root.ifNotExists ? missing(name, "'table', 'view'") : null;
      return { before, after: rowsOf(name, ""), rows: { table: name, side: "after" } };
    }
    case "CreateIndexStmt": {
      const before = root.ifNotExists ? missing(root.idxName.objName.text, "'index'") : null;
      return { before, after: rowsOf(root.tblName.text, condition(root, sql)) };
    }
    case "AlterTableStmt": {
      if (root.body.type !== "DropColumnAlterTableBody") return null;
      const table = root.tblName.objName.text;
      return { before: isStored(table, root.body.column.text), after: rowsOf(table, "") };
    }
    default:
      return null;
  }
}

/** The entries of all these indexes. */
export function builtRows(indexes: readonly BuiltIndex[]): SchemaRows | null {
  if (indexes.length === 0) return null;
  const counts = indexes.map(({ table, sql }) => `(${rowsOf(table, storedCondition(sql))})`);
  return { before: null, after: `SELECT ${sum(counts)}` };
}

/** The rows of a table that is dropped. */
export function removedRows(table: string): SchemaRows {
  return { before: rowsOf(table, ""), after: null, rows: { table, side: "before" } };
}

function rowsOf(table: string, where: string): string {
  return `SELECT count(*) FROM main.${quoteIdentifier(table)}${where}`;
}

function missing(name: string, types: string): string {
  return `SELECT count(*) = 0 FROM sqlite_schema WHERE type IN (${types}) AND name = ${
    quoteText(name)
  } COLLATE NOCASE`;
}

/** A virtual generated column is stored in no row. */
function isStored(table: string, column: string): string {
  return `SELECT count(*) FROM pragma_table_xinfo(${quoteText(table)}) WHERE hidden <> 2 AND name = ${
    quoteText(column)
  } COLLATE NOCASE`;
}

/** For a partial index, which has entries for some rows only. */
function condition({ whereClause }: CreateIndexStmt, sql: string): string {
  if (whereClause === undefined) return "";
  const { offset, length } = whereClause.span;
  return ` WHERE ${sql.slice(offset, offset + length)}`;
}

function storedCondition(sql: string | null): string {
  const parsed = sql === null ? null : parseStmt(sql);
  return sql !== null && parsed?.status !== "error" && parsed?.root.type === "CreateIndexStmt"
    ? condition(parsed.root, sql)
    : "";
}

/** The engine bounds the depth of an expression, so halves are added. */
function sum(counts: readonly string[]): string {
  if (counts.length === 1) return counts[0] ?? "0";
  const half = counts.length >> 1;
  return `(${sum(counts.slice(0, half))} + ${sum(counts.slice(half))})`;
}
