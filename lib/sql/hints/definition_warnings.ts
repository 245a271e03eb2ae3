// What a definition of a table does that hardly anybody means. Pure.
import { parseStmt } from "../grammar/grammar.ts";

/** SQLite's own flags of a table `WITHOUT ROWID` and of one that is `STRICT`: no column of their primary key is ever NULL. */
const NEVER_NULL = 0x80 | 0x10000;

/** Characters of a definition that is read: a longer one is no table by hand, and reading it would hold up the service. */
const MAX_LENGTH = 20_000;

/** Whether the declared type is one of whole numbers, or of columns that another dialect numbers. */
export function isNumbered(type: string): boolean {
  return /INT|SERIAL|IDENTITY/i.test(type);
}

/**
 * Warnings about a CREATE TABLE, without a value; empty for every other text. A key of whole numbers that is not written
 * `INTEGER PRIMARY KEY` numbers nothing: where an INSERT leaves it out, it is NULL.
 */
export function definitionWarnings(sql: string): readonly string[] {
  if (sql.length > MAX_LENGTH) return [];
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "CreateTableStmt") return [];
  const { body } = parsed.root;
  if (body.type !== "ColumnsAndConstraintsCreateTableBody" || (body.flags & NEVER_NULL) !== 0) {
    return [];
  }
  const written = (body.constraints ?? []).flatMap(({ constraint }) =>
    constraint.type === "PrimaryKeyTableConstraint" ? [constraint.columns] : []
  );
  const [[{ span } = {}, ...others] = []] = written;
  const keyText = span === undefined || others.length > 0
    ? ""
    : sql.slice(span.offset, span.offset + span.length);
  return body.columns.flatMap(({ colName, colType, constraints }) => {
    const kinds = constraints.map(({ constraint }) => constraint.type);
    const name = colName.text;
    const isKey = kinds.includes("PrimaryKeyColumnConstraint") ||
      keyText.replace(/^["'`[]|["'`\]]$/g, "").toLowerCase() === name.toLowerCase();
    const type = colType?.name ?? "";
    if (!isKey || /^integer$/i.test(type) || !isNumbered(type)) return [];
    if (kinds.includes("NotNullColumnConstraint") || kinds.includes("DefaultColumnConstraint")) return [];
    return [
      `${name} stays NULL where an INSERT leaves it out; write ${name} INTEGER PRIMARY KEY, which counts up by itself`,
    ];
  });
}
