// What a definition of a table does that hardly anybody means. Pure.
import { parseStmt } from "sqlite3-parser";

/** Types of other dialects whose columns are numbered there, and those of whole numbers. */
const NUMBERED = /INT|SERIAL|IDENTITY/i;
/** In such tables no column of the primary key is ever NULL. */
const NEVER_NULL = /\)[^)]*\b(?:STRICT|WITHOUT\s+ROWID)\b[^)]*$/i;

/**
 * Warnings about a CREATE TABLE, without a value; empty for every other text. A key of whole numbers that is not written
 * `INTEGER PRIMARY KEY` numbers nothing: where an INSERT leaves it out, it is NULL.
 */
export function definitionWarnings(sql: string): readonly string[] {
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "CreateTableStmt") return [];
  const { body } = parsed.root;
  if (body.type !== "ColumnsAndConstraintsCreateTableBody" || NEVER_NULL.test(sql)) return [];
  return body.columns.flatMap(({ colName, colType, constraints }) => {
    const kinds = constraints.map(({ constraint }) => constraint);
    const key = kinds.find(({ type }) => type === "PrimaryKeyColumnConstraint");
    const type = colType?.name ?? "";
    const isRowid = type.toUpperCase() === "INTEGER";
    if (key === undefined || isRowid || !NUMBERED.test(type)) return [];
    if (kinds.some(({ type }) => type === "NotNullColumnConstraint" || type === "DefaultColumnConstraint")) {
      return [];
    }
    const name = colName.text;
    return [
      `${name} stays NULL where an INSERT leaves it out; write ${name} INTEGER PRIMARY KEY, which counts up by itself`,
    ];
  });
}
