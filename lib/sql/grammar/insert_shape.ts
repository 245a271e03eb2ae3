// What an INSERT or UPDATE puts into which column, from its text.
import { type Expr, type InsertStmt, traverse } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";

/** Where the value of a placeholder goes. */
export interface BoundColumn {
  /** The parameter, counted from 0: two placeholders `?1` are one. */
  readonly parameter: number;
  /** Null where it fills none or the text does not tell. */
  readonly column: string | null;
}

/** What an INSERT says about its columns. */
export interface InsertShape {
  /** The columns that it names or, without a list, those of the table; empty for DEFAULT VALUES. */
  readonly columns: readonly string[];
  /** The column of each placeholder's value, in the order of the text. */
  readonly placeholders: readonly BoundColumn[];
  /** Whether ON CONFLICT … DO UPDATE may change an existing row. */
  readonly updates: boolean;
}

/** `columns` are those that an INSERT without a list fills, in order. Null for a text that is no INSERT. */
export function insertShape(sql: string, columns: readonly string[]): InsertShape | null {
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "InsertStmt") return null;
  const { root } = parsed;
  const named = root.columns?.map(({ text }) => text) ?? columns;
  const filled = new Map<number, string | null>();
  for (const [at, expr] of valuesOf(root).entries()) {
    for (const { offset } of placeholdersIn(expr)) filled.set(offset, named[at] ?? null);
  }
  return {
    columns: root.body.type === "DefaultValuesInsertBody" ? [] : named,
    placeholders: columnsBy(placeholdersIn(root), filled),
    updates: updates(root),
  };
}

/** The values of one row. Empty where there are several rows, or where the text does not tell their columns. */
function valuesOf({ body }: InsertStmt): readonly Expr[] {
  if (body.type === "DefaultValuesInsertBody") return [];
  const { select, compounds, with: ctes } = body.select;
  if (ctes !== undefined || (compounds ?? []).length > 0) return [];
  if (select.type === "SelectValues") return select.values.length === 1 ? select.values[0]?.values ?? [] : [];
  return select.columns.every((column) => column.type === "ExprResultColumn")
    ? select.columns.map(({ expr }) => expr)
    : [];
}

function columnsBy(
  placeholders: readonly { readonly name: string; readonly offset: number }[],
  filled: ReadonlyMap<number, string | null>,
): BoundColumn[] {
  return placeholders.map(({ name, offset }, at) => ({
    parameter: name === "?" ? at : Number(name.slice(1)) - 1,
    column: filled.get(offset) ?? null,
  }));
}

/** The placeholders of a text, in order. */
function placeholdersIn(root: Parameters<typeof traverse>[0]): { name: string; offset: number }[] {
  const found: { name: string; offset: number }[] = [];
  traverse(root, {
    enter(node) {
      if (node.type === "VariableExpr") found.push({ name: node.name, offset: node.span.offset });
    },
  });
  return found.sort((a, b) => a.offset - b.offset);
}

function updates({ body }: InsertStmt): boolean {
  if (body.type === "DefaultValuesInsertBody") return false;
  for (let upsert = body.upsert; upsert !== undefined; upsert = upsert.next) {
    if (upsert.doClause.type === "SetUpsertDo") return true;
  }
  return false;
}

/** The columns that the placeholders of an INSERT or UPDATE fill; all are `?`, or all are `?N`. */
export function boundColumns(sql: string): readonly BoundColumn[] {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return [];
  const { root } = parsed;
  const found = placeholdersIn(root);
  if (root.type === "InsertStmt") return insertShape(sql, [])?.placeholders ?? [];
  if (root.type !== "UpdateStmt") return [];
  const filled = new Map<number, string>();
  for (const { colNames: [column, ...others], expr } of root.sets) {
    if (column === undefined || others.length > 0) continue;
    for (const { offset } of placeholdersIn(expr)) filled.set(offset, column.text);
  }
  return columnsBy(found, filled);
}
