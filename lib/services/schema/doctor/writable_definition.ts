// The definition of a table that rows can be written to: the engine refuses every write under a foreign key without a
// possible target.
import { TableText } from "../../../sql/table_text.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import { foreignKeyFault, isHopeless } from "./foreign_key_fault.ts";

/** CREATE TABLE as it was written, without hopeless foreign keys; null where the text is not understood. */
export function writableDefinition(examined: Examined, table: TableFacts): string | null {
  let sql: string | null = examined.sources.get(table.name)?.sql ?? null;
  for (const key of table.foreignKeys) {
    const fault = foreignKeyFault(examined, table, key);
    if (sql === null || fault === null || !isHopeless(fault)) continue;
    sql = TableText.read(sql)?.withoutForeignKey(key.columns, key.toTable, sameName) ?? null;
  }
  return sql;
}

function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}
