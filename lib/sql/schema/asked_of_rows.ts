// What an ALTER TABLE asks of the rows that are there. Where some break it, or a column of its kind is never added, the engine
// says so in a few words, without the table, the rule, the column or the way out. Pure.
import type { Stmt } from "sqlite3-parser";
import { parseStmt } from "../grammar/grammar.ts";
import { quoteIdentifier } from "../words/quote.ts";
import { isAlter } from "../tokens/sql_tokens.ts";

/** Which rule rows break, in the words that the engine has for a write that breaks it, and how to find them. */
export interface AskedOfRows {
  /** `unknown`, as the engine has it, where the column is not added whatever the rows are. */
  readonly kind: "check_violation" | "not_null_violation" | "unknown";
  readonly message: string;
  readonly table: string;
  /** The column that the rule is about; null for the CHECK of a table. */
  readonly column: string | null;
  readonly hint: string;
}

type AlterTable = Extract<Stmt, { readonly type: "AlterTableStmt" }>;

/** Characters of a condition that a message repeats. */
const MAX_CONDITION = 200;
const MESSAGES: ReadonlySet<string> = new Set([
  "constraint failed",
  "CHECK constraint failed",
  "NOT NULL constraint failed",
]);

/** Columns that the engine does not add, by its message, and how a table gets one. */
const NOT_ADDED = new Map<string, (table: string, column: string) => string>([
  [
    "Cannot add a NOT NULL column with default value NULL",
    () => "Give the column a DEFAULT that is not NULL, or add it without NOT NULL and fill it first",
  ],
  [
    "Cannot add a UNIQUE column",
    (table, column) => `Add the column without UNIQUE and fill it, then ${uniqueIndex(table, column)}`,
  ],
  [
    "Cannot add a PRIMARY KEY column",
    (table, column) =>
      `Add the column without PRIMARY KEY and fill it, then ${uniqueIndex(table, column)}; ` +
      "a table gets its primary key only where it is created",
  ],
  [
    "Cannot add a column with non-constant default",
    (table, column) =>
      "Give the column a DEFAULT that is a plain value, or add it without a DEFAULT and fill it by " +
      `UPDATE ${quoteIdentifier(table)} SET ${quoteIdentifier(column)} = …`,
  ],
  [
    "Cannot add a REFERENCES column with non-NULL default value",
    (table, column) =>
      "Add the column without a DEFAULT and fill it by " +
      `UPDATE ${quoteIdentifier(table)} SET ${quoteIdentifier(column)} = …`,
  ],
  [
    "cannot add a STORED column",
    () => "Write VIRTUAL in the place of STORED; a stored column needs a table that is created with it",
  ],
]);

function uniqueIndex(table: string, column: string): string {
  const index = quoteIdentifier(`${table}_${column}`);
  return `CREATE UNIQUE INDEX ${index} ON ${quoteIdentifier(table)} (${quoteIdentifier(column)})`;
}

/** The rule of an ALTER TABLE that failed with the engine's `message`; null for every other statement and message. */
export function askedOfRows(sql: string, message: string): AskedOfRows | null {
  // A full-text table has one of these messages too: reading a long INSERT again would hold up the service.
  if (!MESSAGES.has(message) && !NOT_ADDED.has(message) || !isAlter(sql)) return null;
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "AlterTableStmt") return null;
  return ruleOf(parsed.root, sql, message);
}

function ruleOf({ tblName, body }: AlterTable, sql: string, message: string): AskedOfRows | null {
  const table = tblName.objName.text;
  const rows = (condition: string) =>
    `Change the rows that break the rule first; SELECT * FROM ${
      quoteIdentifier(table)
    } WHERE ${condition} finds them`;
  if (body.type === "SetColumnNotNullAlterTableBody") {
    const column = body.column.text;
    return { ...notNull(table, column), hint: rows(`${quoteIdentifier(column)} IS NULL`) };
  }
  if (body.type === "AddColumnAlterTableBody") return newColumn(table, body.column.colName.text, message);
  if (body.type !== "AddConstraintAlterTableBody") return null;
  const { name, constraint } = body.constraint;
  if (constraint.type !== "CheckTableConstraint") return null;
  const { offset, length } = constraint.expr.span;
  const condition = length > MAX_CONDITION ? "<condition>" : sql.slice(offset, offset + length);
  return { ...check(table, null, name?.text ?? condition), hint: rows(`NOT (${condition})`) };
}

function newColumn(table: string, column: string, message: string): AskedOfRows {
  if (message === "CHECK constraint failed") {
    const hint =
      "Give the column a DEFAULT that its CHECK allows, or add it without the CHECK and fill it first";
    return { ...check(table, column, column), hint };
  }
  const wayOut = NOT_ADDED.get(message);
  return wayOut ? { kind: "unknown", table, column, message, hint: wayOut(table, column) } : {
    ...notNull(table, column),
    hint: "Add the column without NOT NULL: for rows that are there its expression is NULL",
  };
}

function notNull(table: string, column: string): Omit<AskedOfRows, "hint"> {
  return {
    kind: "not_null_violation",
    table,
    column,
    message: `NOT NULL constraint failed: ${table}.${column}`,
  };
}

function check(table: string, column: string | null, rule: string): Omit<AskedOfRows, "hint"> {
  return { kind: "check_violation", table, column, message: `CHECK constraint failed: ${rule}` };
}
