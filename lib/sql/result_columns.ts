// Which columns a statement answers, from its text and the schema. Where the text does not tell, the answer is null.
import { type FromClause, parseStmt, type ResultColumn as ResultNode, type Stmt } from "sqlite3-parser";

/** One column of the answer, as far as the text tells. */
export interface ShownColumn {
  /** Null for an expression without an alias, which the engine names. */
  readonly name: string | null;
  /** The column of a table that it shows unchanged; null for an expression. */
  readonly source: { readonly table: string; readonly column: string } | null;
  /** Whether a join can leave it NULL, whatever the table says. */
  readonly joined: boolean;
  /** Whether it counts rows, and so shows no value of the columns that it names. */
  readonly counts: boolean;
}

/** A column of the answer that has a name. */
export interface ResultColumn extends ShownColumn {
  readonly name: string;
}

/** The columns of a table, spelled as in the schema; null for a name that is no table or view. */
export type ColumnsOf = (table: string) => readonly string[] | null;

interface Source {
  /** The name by which the statement calls it. */
  readonly alias: string;
  readonly table: string;
  readonly columns: readonly string[];
}

/** The named columns. Null where the text does not tell; empty for a statement that answers no rows. */
export function resultColumns(sql: string, columnsOf: ColumnsOf): readonly ResultColumn[] | null {
  const shown = shownColumns(sql, columnsOf);
  return shown !== null && shown.every(isNamed) ? shown : null;
}

/** As `resultColumns`, with unnamed columns too. The source of a rowid is the column `rowid`. */
export function shownColumns(sql: string, columnsOf: ColumnsOf): readonly ShownColumn[] | null {
  const parsed = parseStmt(sql);
  return parsed.status === "error" ? null : ofStatement(parsed.root, columnsOf);
}

function isNamed(column: ShownColumn): column is ResultColumn {
  return column.name !== null;
}

function ofStatement(root: Stmt, columnsOf: ColumnsOf): readonly ShownColumn[] | null {
  switch (root.type) {
    case "SelectStmt": {
      const { select, compounds, with: ctes } = root.body;
      if (ctes !== undefined || (compounds ?? []).length > 0 || select.type !== "SelectFrom") return null;
      const sources = select.from === undefined ? [] : sourcesOf(select.from, columnsOf);
      return sources && expand(select.columns, sources);
    }
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt": {
      const table = root.tblName.objName.text;
      const columns = columnsOf(table);
      return columns && expand(root.returning ?? [], [{ alias: table, table, columns }]);
    }
    default:
      return null;
  }
}

/** Null where FROM contains anything but tables and views by name, or a join leaves out columns. */
function sourcesOf(from: FromClause, columnsOf: ColumnsOf): Source[] | null {
  const joins = from.joins ?? [];
  const sources: Source[] = [];
  for (const table of [from.select, ...joins.map((join) => join.table)]) {
    if (table?.type !== "TableSelectTable") return null;
    const name = table.tblName.objName.text;
    const columns = columnsOf(name);
    if (columns === null) return null;
    sources.push({ alias: table.alias?.name.text ?? name, table: name, columns });
  }
  // NATURAL and USING show a shared column once.
  const merges = joins.some(({ constraint, operator }) =>
    operator.type !== "CommaJoinOperator" && constraint?.type !== "OnJoinConstraint"
  );
  return merges ? null : sources;
}

function expand(columns: readonly ResultNode[], sources: readonly Source[]): ShownColumn[] | null {
  const joined = sources.length > 1;
  const all = ({ table, columns }: Source) =>
    columns.map((column) => ({ name: column, source: { table, column }, joined, counts: false }));
  const found: ShownColumn[] = [];
  for (const node of columns) {
    if (node.type === "StarResultColumn") {
      found.push(...sources.flatMap(all));
    } else if (node.type === "TableStarResultColumn") {
      const source = sources.find(({ alias }) => same(alias, node.table.text));
      if (source === undefined) return null;
      found.push(...all(source));
    } else {
      const column = plainColumn(node.expr, sources);
      // The name of a bare rowid in the answer depends on the table's key.
      const declared = sources.some(({ columns }) => columns.includes(column?.column ?? ""));
      const own = declared ? column?.column : undefined;
      const name = node.alias?.name.text ?? own ?? null;
      found.push({ name, source: column, joined, counts: isCount(node.expr) });
    }
  }
  return found;
}

type Expression = Extract<ResultNode, { type: "ExprResultColumn" }>["expr"];

function isCount(expr: Expression): boolean {
  return (expr.type === "FunctionCallExpr" || expr.type === "FunctionCallStarExpr") &&
    same(expr.name.name, "count");
}

/** The column that is the whole expression. */
function plainColumn(expr: Expression, sources: readonly Source[]): ResultColumn["source"] {
  const name = expr.type === "Id" ? expr.name : expr.type === "QualifiedExpr" ? expr.column.text : null;
  if (name === null) return null;
  const alias = expr.type === "QualifiedExpr" ? expr.table.text : null;
  for (const { columns, table, ...source } of sources) {
    if (alias !== null && !same(alias, source.alias)) continue;
    const column = columns.find((one) => same(one, name));
    if (column !== undefined) return { table, column };
    if (isRowid(name) && (alias !== null || sources.length === 1)) return { table, column: "rowid" };
  }
  return null;
}

function isRowid(name: string): boolean {
  return /^(?:rowid|_rowid_|oid)$/i.test(name);
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * Whether a statement answers rows: a read does, and a write with RETURNING. For a text that `readSyntax` has
 * accepted; false for any other.
 */
export function returnsRows(sql: string): boolean {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return false;
  const { root } = parsed;
  switch (root.type) {
    case "SelectStmt":
    case "ExplainStmt":
    case "PragmaStmt":
      return true;
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt":
      return (root.returning ?? []).length > 0;
    default:
      return false;
  }
}
