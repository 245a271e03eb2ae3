// What turning one schema into another does to each table, in the engine's words (`actions` of its facts), so that a
// rule about tables applies to it as to a caller's statements. Pure.
import { writtenRename } from "./description_renames.ts";
import { rowsCarried } from "./schema_diff.ts";
import { objectsByKey, type SchemaShape } from "./schema_shape.ts";

/** The actions of all changes except renames. A table that is rebuilt around its rows only changes its schema. */
export function schemaActions(from: SchemaShape, to: SchemaShape): string[] {
  const before = objectsByKey(from);
  const after = objectsByKey(to);
  const actions = new Set<string>();
  for (const [key, one] of before) {
    const newer = after.get(key);
    if (newer?.sql === one.sql) continue;
    actions.add(`schema ${one.table}`);
    // A trigger or an index of that name may belong to another table now.
    if (newer) actions.add(`schema ${newer.table}`);
    const holds = one.type === "table" || one.type === "view";
    const stays = newer !== undefined && (one.type !== "table" || rowsCarried(from, to, one, newer));
    if (holds && !stays) actions.add(`delete ${one.table}`);
  }
  for (const [key, one] of after) if (!before.has(key)) actions.add(`schema ${one.table}`);
  return [...actions].sort();
}

/** A renamed table changes under both of its names. */
export function renameActions(renames: readonly string[]): string[] {
  return renames.flatMap((sql) => {
    const rename = writtenRename(sql);
    if (rename === null) return [];
    const { table, column, to } = rename;
    return column === null ? [`schema ${table}`, `schema ${to}`] : [`schema ${table}`];
  });
}
