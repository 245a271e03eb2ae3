// Tables without a primary key: rows of theirs cannot be addressed.
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { newKey, rebuildCall } from "./new_definition.ts";

export function missingPk(examined: Examined): Found[] {
  return examined.schema.tables.filter(({ kind }) => kind === "table").flatMap((table) => {
    const key = newKey(examined, table);
    const suggestion = key === null ? null : rebuildCall(examined, table);
    if (key === null || suggestion === null) return [];
    const change = "added" in key
      ? `add the column ${key.added}`
      : `make ${key.columns.join(", ")} the key, which is unique already`;
    return [{
      table: table.name,
      column: null,
      message: `Give the table ${table.name} a primary key: ${change}`,
      suggestion,
    }];
  });
}
