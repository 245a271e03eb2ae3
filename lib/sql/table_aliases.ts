// What a statement calls its tables, at any depth of it.
import { parseStmt, traverse } from "sqlite3-parser";

/** Table by alias, lower case; an alias that stands for several tables is left out. Empty for what is no statement. */
export function tableAliases(sql: string): ReadonlyMap<string, string> {
  const parsed = parseStmt(sql);
  const found = new Map<string, Set<string>>();
  if (parsed.status === "error") return new Map();
  const add = (alias: string | undefined, table: string) => {
    if (alias === undefined) return;
    const name = alias.toLowerCase();
    found.set(name, (found.get(name) ?? new Set()).add(table));
  };
  traverse(parsed.root, {
    enter(node) {
      if (node.type === "TableSelectTable") add(node.alias?.name.text, node.tblName.objName.text);
      if (node.type === "QualifiedName") add(node.alias?.text, node.objName.text);
    },
  });
  return new Map(
    [...found].flatMap(([alias, [table, ...others]]) =>
      table === undefined || others.length > 0 ? [] : [[alias, table] as const]
    ),
  );
}
