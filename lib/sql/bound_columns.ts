// Which column each placeholder of an INSERT or UPDATE fills, told from its text.
import { parseStmt, traverse } from "sqlite3-parser";
import { insertShape } from "./insert_shape.ts";

/** By the placeholder's place; null where it fills none or the text does not tell. Empty where places have numbers. */
export function boundColumns(sql: string): readonly (string | null)[] {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return [];
  const { root } = parsed;
  const found = placeholdersIn(root);
  if (found.some(({ name }) => name !== "?")) return [];
  if (root.type === "InsertStmt") return insertShape(sql, [])?.placeholders ?? [];
  if (root.type !== "UpdateStmt") return [];
  const filled = new Map<number, string>();
  for (const { colNames: [column, ...others], expr } of root.sets) {
    if (column === undefined || others.length > 0) continue;
    for (const { offset } of placeholdersIn(expr)) filled.set(offset, column.text);
  }
  return found.map(({ offset }) => filled.get(offset) ?? null);
}

/** In the order of the text. */
function placeholdersIn(root: Parameters<typeof traverse>[0]): { name: string; offset: number }[] {
  const found: { name: string; offset: number }[] = [];
  traverse(root, {
    enter(node) {
      if (node.type === "VariableExpr") found.push({ name: node.name, offset: node.span.offset });
    },
  });
  return found.sort((a, b) => a.offset - b.offset);
}
