// Which columns a statement answers, from its text and the schema. Where the text does not tell, the answer is null.
import { sameName } from "../words/names.ts";
import type { Expr, FromClause, ResultColumn as ResultNode, Select, Stmt } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import { passedOf } from "./passed_columns.ts";

/** A column of a table. */
interface TableColumn {
  readonly table: string;
  readonly column: string;
}

/** One column of the answer, as far as the text tells. */
export interface ShownColumn {
  /** Null for an expression without an alias, which the engine names. */
  readonly name: string | null;
  /** The column of a table that it shows unchanged; null for an expression. */
  readonly source: TableColumn | null;
  /** Whether a join can leave it NULL, whatever the table says. */
  readonly joined: boolean;
  /** The columns whose values it shows, unchanged or not; null where the text does not tell. */
  readonly shows: readonly TableColumn[] | null;
  /** Whether it only counts, measures or compares something, and so shows no value. */
  readonly onlyTells: boolean;
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
    case "SelectStmt":
      return ofSelect(root.body, { columnsOf, outer: [] });
    case "InsertStmt":
    case "UpdateStmt":
    case "DeleteStmt": {
      const table = root.tblName.objName.text;
      const columns = columnsOf(table);
      const scope = { columnsOf, outer: [] };
      return columns && expand(root.returning ?? [], [{ alias: table, table, columns }], scope);
    }
    default:
      return null;
  }
}

/** What a SELECT may name beside its own FROM. */
interface Scope {
  readonly columnsOf: ColumnsOf;
  /** The tables around a sub-select, the nearest first. */
  readonly outer: readonly Source[];
}

function ofSelect({ select, compounds, with: ctes }: Select, scope: Scope): readonly ShownColumn[] | null {
  if (ctes !== undefined || (compounds ?? []).length > 0 || select.type !== "SelectFrom") return null;
  const sources = select.from === undefined ? [] : sourcesOf(select.from, scope.columnsOf);
  return sources && expand(select.columns, sources, scope);
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

function expand(
  columns: readonly ResultNode[],
  sources: readonly Source[],
  scope: Scope,
): ShownColumn[] | null {
  const joined = sources.length > 1;
  const all = ({ table, columns }: Source) =>
    columns.map((column) => ({ name: column, joined, onlyTells: false, ...unchanged({ table, column }) }));
  const found: ShownColumn[] = [];
  for (const node of columns) {
    if (node.type === "StarResultColumn") {
      found.push(...sources.flatMap(all));
    } else if (node.type === "TableStarResultColumn") {
      const source = sources.find(({ alias }) => sameName(alias, node.table.text));
      if (source === undefined) return null;
      found.push(...all(source));
    } else {
      const column = plainColumn(node.expr, sources);
      // The name of a bare rowid in the answer depends on the table's key.
      const declared = sources.some(({ columns }) => columns.includes(column?.column ?? ""));
      const own = declared ? column?.column : undefined;
      const name = node.alias?.name.text ?? own ?? null;
      found.push({
        name,
        joined,
        ...(column === null
          ? shownBy(node.expr, sources, scope)
          : { ...unchanged(column), onlyTells: false }),
      });
    }
  }
  return found;
}

/** All that an answer shows of the tables' columns; null where the text does not tell. */
export function allShown(columns: readonly ShownColumn[] | null): readonly TableColumn[] | null {
  const shown = columns?.map(({ shows }) => shows) ?? [null];
  return shown.every((one) => one !== null) ? shown.flat() : null;
}

function unchanged(source: TableColumn): Pick<ShownColumn, "source" | "shows"> {
  return { source, shows: [source] };
}

/** What an expression shows, through its sub-selects too. */
function shownBy(
  expr: Expr,
  sources: readonly Source[],
  { columnsOf, outer }: Scope,
): Pick<ShownColumn, "source" | "shows" | "onlyTells"> {
  const { names, selects, tells } = passedOf(expr);
  const inner = selects.map((select) => ofSelect(select, { columnsOf, outer: [...sources, ...outer] }));
  // A quoted name that no table has is a text.
  const own = names.flatMap((name) => plainColumn(name, sources) ?? plainColumn(name, outer) ?? []);
  const within = inner.map(allShown);
  const isTold = inner.every((columns) => columns?.every(({ onlyTells }) => onlyTells));
  return {
    source: null,
    shows: within.every((one) => one !== null) ? [...own, ...within.flat()] : null,
    onlyTells: names.length === 0 && isTold && (tells || inner.length > 0),
  };
}

/** The column that is the whole expression. */
function plainColumn(expr: Expr, sources: readonly Source[]): ResultColumn["source"] {
  const name = expr.type === "Id" ? expr.name : expr.type === "QualifiedExpr" ? expr.column.text : null;
  if (name === null) return null;
  const alias = expr.type === "QualifiedExpr" ? expr.table.text : null;
  for (const { columns, table, ...source } of sources) {
    if (alias !== null && !sameName(alias, source.alias)) continue;
    const column = columns.find((one) => sameName(one, name));
    if (column !== undefined) return { table, column };
    if (isRowid(name) && (alias !== null || sources.length === 1)) return { table, column: "rowid" };
  }
  return null;
}

function isRowid(name: string): boolean {
  return /^(?:rowid|_rowid_|oid)$/i.test(name);
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
