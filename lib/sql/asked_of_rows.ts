// What an ALTER TABLE asks of the rows that are there. Where some break it, the engine says so in two words, without the
// table, the rule or the column. Pure.
import { parseStmt, type Stmt } from "sqlite3-parser";
import { quoteIdentifier } from "./quote.ts";

/** Which rule rows break, in the words that the engine has for a write that breaks it, and how to find them. */
export interface AskedOfRows {
  /** `unknown`, as the engine has it, where a DEFAULT is missing. */
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
const NO_DEFAULT = "Cannot add a NOT NULL column with default value NULL";
const MESSAGES: ReadonlySet<string> = new Set([
  "constraint failed",
  "CHECK constraint failed",
  "NOT NULL constraint failed",
  NO_DEFAULT,
]);

/** The rule of an ALTER TABLE that failed with the engine's `message`; null for every other statement and message. */
export function askedOfRows(sql: string, message: string): AskedOfRows | null {
  if (!MESSAGES.has(message)) return null;
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
  const rule = notNull(table, column);
  const missing = "Give the column a DEFAULT that is not NULL, or add it without NOT NULL and fill it first";
  return message === NO_DEFAULT
    ? { ...rule, kind: "unknown", message, hint: missing }
    : { ...rule, hint: "Add the column without NOT NULL: for rows that are there its expression is NULL" };
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
