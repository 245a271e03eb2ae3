// Columns without a declared type: nothing says what they hold, and the engine converts nothing.
import { foldName } from "../../../sql/fold_name.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { newTypes, rebuildCall } from "./new_definition.ts";

export function untypedColumn(examined: Examined): Found[] {
  return examined.schema.tables.filter(({ kind }) => kind === "table").flatMap((table) => {
    const types = newTypes(examined, table);
    const suggestion = types.size === 0 ? null : rebuildCall(examined, table);
    if (suggestion === null) return [];
    return table.columns.filter(({ type }) => type === "").map(({ name }) => ({
      table: table.name,
      column: name,
      message: `Declare ${name} of ${table.name} as ${types.get(foldName(name))}, which fits what it holds`,
      suggestion,
    }));
  });
}
