// Tables without a primary key: rows of theirs cannot be addressed.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { TableText } from "../../../sql/table_text.ts";
import { foldName } from "../fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import { batchCall } from "./api_call.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { freeName } from "./free_name.ts";
import { rebuildTable } from "./rebuild_table.ts";
import { writableDefinition } from "./writable_definition.ts";

export function missingPk(examined: Examined): Found[] {
  return examined.schema.tables.filter((table) =>
    table.kind === "table" && table.columns.every(({ pk }) => pk === 0)
  ).flatMap((table) => {
    const text = TableText.read(writableDefinition(examined, table) ?? "");
    if (text === null) return [];
    const key = uniqueColumns(examined, table);
    const keyColumn = freeName(new Set(table.columns.map(({ name }) => foldName(name))), "id");
    const rebuild = key
      ? { sql: text.withPrimaryKey(key) }
      : { sql: text.withFirstColumn(`${quoteIdentifier(keyColumn)} INTEGER PRIMARY KEY`), keyColumn };
    const change = key
      ? `make ${key.join(", ")} the key, which is unique already`
      : `add the column ${keyColumn}`;
    return [{
      table: table.name,
      column: null,
      message: `Give the table ${table.name} a primary key: ${change}`,
      suggestion: batchCall(examined.address, rebuildTable(examined, table, rebuild)),
    }];
  });
}

/** Columns that are a key in all but name: unique, and none of them NULL. */
function uniqueColumns(examined: Examined, table: TableFacts): string[] | null {
  const required = new Map(
    table.columns.map(({ name, notNull, generated }) => [name, notNull && !generated]),
  );
  for (const { unique, partial, columns } of examined.indexes.get(table.name) ?? []) {
    const names = columns.map(({ name }) => name).filter((name) => name !== null);
    const plain = columns.every(({ collation }) => collation === "BINARY");
    if (
      unique && !partial && plain && names.length === columns.length &&
      names.every((one) => required.get(one))
    ) {
      return names;
    }
  }
  return null;
}
