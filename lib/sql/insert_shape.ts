// What an INSERT puts into which column, told from its text.
import { type Expr, type InsertStmt, parseStmt, traverse } from "sqlite3-parser";

export interface InsertShape {
  /** Columns that it names or, where it names none, those of the table; empty for DEFAULT VALUES. */
  readonly columns: readonly string[];
  /** The column that each placeholder's value goes into, by the placeholder's place; null where the text does not tell. */
  readonly placeholders: readonly (string | null)[];
  /** ON CONFLICT … DO UPDATE: it may change a row that is there. */
  readonly updates: boolean;
}

/** `columns`: those that an INSERT without a list fills, in order. Null for what is no INSERT. */
export function insertShape(sql: string, columns: readonly string[]): InsertShape | null {
  const parsed = parseStmt(sql);
  if (parsed.status === "error" || parsed.root.type !== "InsertStmt") return null;
  const { root } = parsed;
  const named = root.columns?.map(({ text }) => text) ?? columns;
  const filled = new Map<number, string | null>();
  for (const [at, expr] of valuesOf(root).entries()) {
    for (const offset of placeholdersIn(expr)) filled.set(offset, named[at] ?? null);
  }
  return {
    columns: root.body.type === "DefaultValuesInsertBody" ? [] : named,
    placeholders: placeholdersIn(root).map((offset) => filled.get(offset) ?? null),
    updates: updates(root),
  };
}

/** Of one row; none where there are several, or where the text does not tell which column they are for. */
function valuesOf({ body }: InsertStmt): readonly Expr[] {
  if (body.type === "DefaultValuesInsertBody") return [];
  const { select, compounds, with: ctes } = body.select;
  if (ctes !== undefined || (compounds ?? []).length > 0) return [];
  if (select.type === "SelectValues") return select.values.length === 1 ? select.values[0]?.values ?? [] : [];
  return select.columns.every((column) => column.type === "ExprResultColumn")
    ? select.columns.map(({ expr }) => expr)
    : [];
}

/** Where they stand in the text, in order. */
function placeholdersIn(root: Parameters<typeof traverse>[0]): number[] {
  const offsets: number[] = [];
  traverse(root, {
    enter(node) {
      if (node.type === "VariableExpr") offsets.push(node.span.offset);
    },
  });
  return offsets.sort((a, b) => a - b);
}

function updates({ body }: InsertStmt): boolean {
  if (body.type === "DefaultValuesInsertBody") return false;
  for (let upsert = body.upsert; upsert !== undefined; upsert = upsert.next) {
    if (upsert.doClause.type === "SetUpsertDo") return true;
  }
  return false;
}
