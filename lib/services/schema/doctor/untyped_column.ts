// Columns without a declared type: nothing says what they hold, and the engine converts nothing.
import { TableText } from "../../../sql/table_text.ts";
import { foldName } from "../fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import { batchCall } from "./api_call.ts";
import { type Examined, probeKey, valueBits } from "./examined.ts";
import type { Found } from "./finding.ts";
import { rebuildTable } from "./rebuild_table.ts";
import { writableDefinition } from "./writable_definition.ts";

export function untypedColumn(examined: Examined): Found[] {
  return examined.schema.tables.filter(({ kind }) => kind === "table").flatMap((table) => {
    const untyped = table.columns.filter(({ type }) => type === "");
    const text = TableText.read(writableDefinition(examined, table) ?? "");
    if (untyped.length === 0 || text === null) return [];
    // One rebuild for all of them, so that the suggestion for one column does not undo another's.
    const types = new Map(untyped.map(({ name }) => [foldName(name), typeFor(examined, table, name)]));
    const sql = text.withTypes((name) => types.get(foldName(name)) ?? null);
    const suggestion = batchCall(examined.address, rebuildTable(examined, table, { sql }));
    return untyped.map(({ name }) => ({
      table: table.name,
      column: name,
      message: `Declare ${name} of ${table.name} as ${types.get(foldName(name))}, which fits what it holds`,
      suggestion,
    }));
  });
}

/** The type that changes no value; BLOB is what a column without a type is to the engine. */
function typeFor({ rows }: Examined, table: TableFacts, column: string): string {
  const held = rows.values.get(probeKey(table.name, column)) ?? 0;
  const { integer, real, text } = valueBits;
  if (held === 0 || held === text) return "TEXT";
  if (held === integer) return "INTEGER";
  return held === real || held === (integer | real) ? "REAL" : "BLOB";
}
