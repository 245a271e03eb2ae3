// The columns of a primary key in the key's order, which need not be that of the table.
import type { ColumnDefinition } from "./read_table.ts";
import type { ColumnFacts } from "./schema_facts.ts";

/** Of a table as `describe` shows it; none where it has no key. */
export function keyFacts<Column extends Pick<ColumnFacts, "pk">>(columns: readonly Column[]): Column[] {
  return columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
}

/** Of a table as endpoints are made for it; none where it has no key. */
export function keyDefinitions(columns: readonly ColumnDefinition[]): ColumnDefinition[] {
  return columns.filter(({ keyPosition }) => keyPosition > 0).toSorted((a, b) =>
    a.keyPosition - b.keyPosition
  );
}
