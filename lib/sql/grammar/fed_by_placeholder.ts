// Whether a statement writes what its caller sends into a column, from its text.
import { type Expr, type SetAssignment, traverse, type Upsert } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import { sameName } from "../words/names.ts";

/** `listed` are the columns that an INSERT without a list fills, in order. False where the text does not tell. */
export function isFedByPlaceholder(sql: string, column: string, listed: readonly string[]): boolean {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return false;
  const { root } = parsed;
  if (root.type === "UpdateStmt") return setsFeed(root.sets, column);
  if (root.type !== "InsertStmt" || root.body.type === "DefaultValuesInsertBody") return false;
  const names = root.columns?.map(({ text }) => text) ?? listed;
  const at = names.findIndex((name) => sameName(name, column));
  const { select: { select, compounds = [] }, upsert } = root.body;
  const rows = [select, ...compounds.map((one) => one.select)].flatMap((one): readonly Expr[][] => {
    if (one.type === "SelectValues") return one.values.map(({ values }) => [...values]);
    return one.columns.every((each) => each.type === "ExprResultColumn")
      ? [one.columns.map(({ expr }) => expr)]
      : [];
  });
  return rows.some((row) => hasPlaceholder(row[at])) || upsertFeeds(upsert, column);
}

function upsertFeeds(upsert: Upsert | undefined, column: string): boolean {
  for (let one = upsert; one !== undefined; one = one.next) {
    if (one.doClause.type === "SetUpsertDo" && setsFeed(one.doClause.sets, column)) return true;
  }
  return false;
}

function setsFeed(sets: readonly SetAssignment[], column: string): boolean {
  return sets.some(({ colNames, expr }) =>
    colNames.some(({ text }) => sameName(text, column)) && hasPlaceholder(expr)
  );
}

function hasPlaceholder(expr: Expr | undefined): boolean {
  let found = false;
  if (expr !== undefined) {
    traverse(expr, {
      enter(node) {
        if (node.type === "VariableExpr") found = true;
      },
    });
  }
  return found;
}
