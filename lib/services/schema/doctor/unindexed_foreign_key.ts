// Foreign keys without an index: each delete in the target reads the whole table.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { freeName } from "./free_name.ts";
import { hasRowIdColumn } from "./rebuild_table.ts";

export function unindexedForeignKey(examined: Examined): Found[] {
  return examined.schema.tables.flatMap((table) =>
    table.foreignKeys.filter((key) => !isIndexed(examined, table, key)).map(({ columns, toTable }) => {
      const name = freeName(examined.takenNames, `${table.name}_${columns.join("_")}`);
      return {
        table: table.name,
        column: columns[0] ?? null,
        message: `Index ${columns.join(", ")} of ${table.name}, which refers to ${toTable}`,
        suggestion: `CREATE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${quoteIdentifier(table.name)} (${
          columns.map(quoteIdentifier).join(", ")
        })`,
      };
    })
  );
}

/** The columns of the key are the first ones of an index, in any order. */
function isIndexed({ indexes }: Examined, table: TableFacts, { columns }: ForeignKeyFacts): boolean {
  const wanted = new Set(columns.map(foldName));
  const covers = (names: readonly (string | null)[]) =>
    names.length >= wanted.size &&
    names.slice(0, wanted.size).every((name) => name !== null && wanted.has(foldName(name)));
  const key = table.columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk).map(({ name }) =>
    name
  );
  if (hasRowIdColumn(table) && covers(key)) return true;
  return (indexes.get(table.name) ?? []).some((index) =>
    !index.partial && covers(index.columns.map(({ name }) => name))
  );
}
