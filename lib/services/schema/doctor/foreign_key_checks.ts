// Checks of foreign keys: keys that cannot hold, and keys without an index.
import { foldName } from "../../../sql/names.ts";
import { nearMatches } from "../../../sql/hints.ts";
import { quoteIdentifier } from "../../../sql/quote.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined, Found } from "./examined.ts";
import {
  type ForeignKeyFault,
  foreignKeyFault,
  needsNewDefinition,
  orphanCondition,
  uniqueTarget,
} from "./foreign_keys.ts";
import { rebuildCall } from "./new_definition.ts";
import { hasRowIdColumn } from "./rebuild_table.ts";
import { freeName } from "./suggestions.ts";
import { keyFacts } from "../key_columns.ts";

/** Foreign keys that cannot hold: the target is missing or not unique, or rows point at nothing. */
export function brokenForeignKey(examined: Examined): Found[] {
  return examined.schema.tables.flatMap((table) => {
    const faults = table.foreignKeys.flatMap((key) => {
      const fault = foreignKeyFault(examined, table, key);
      return fault === null ? [] : [{ key, fault }];
    });
    return faults.flatMap(({ key, fault }) => {
      const suggestion = needsNewDefinition(fault)
        ? rebuildCall(examined, table)
        : fault === "not_unique"
        ? uniqueTarget(examined, key)
        : forOrphans(table, key);
      return suggestion === null ? [] : [{
        table: table.name,
        column: key.columns[0] ?? null,
        message: `${fixes[fault]}: ${key.columns.join(", ")} of ${table.name} refers to ${targetOf(key)}${
          hintFor(examined, key, fault)
        }`,
        suggestion,
      }];
    });
  });
}

const fixes: Readonly<Record<ForeignKeyFault, string>> = {
  no_table: "Take the foreign key off or make its table, which is missing",
  no_column: "Take the foreign key off or correct it, its target column is missing",
  duplicates: "Take the foreign key off, its target is no key and has the same value in several rows",
  not_unique: "Make the target of the foreign key unique, which it must be",
  orphans: "Correct the rows whose target is not there",
};

/** References become NULL where the column allows it. Otherwise rows without a target are deleted. */
function forOrphans(table: TableFacts, key: ForeignKeyFacts): string {
  const name = quoteIdentifier(table.name);
  const own = new Set(key.columns.map(foldName));
  const optional = table.columns.filter((one) => own.has(foldName(one.name)) && !one.notNull && one.pk === 0);
  const [first] = optional;
  return first
    ? `UPDATE ${name} SET ${quoteIdentifier(first.name)} = NULL WHERE ${orphanCondition(name, key)}`
    : `DELETE FROM ${name} WHERE ${orphanCondition(name, key)}`;
}

function targetOf({ toTable, toColumns }: ForeignKeyFacts): string {
  return toColumns.length === 0 ? toTable : `${toColumns.join(", ")} of ${toTable}`;
}

function hintFor({ schema }: Examined, { toTable }: ForeignKeyFacts, fault: ForeignKeyFault): string {
  const near = fault === "no_table" ? nearMatches(toTable, schema.tables.map(({ name }) => name)) : [];
  return near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
}

/** Foreign keys without an index: each delete in the target table reads the whole table. */
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

/** Whether the columns of the key are the first ones of an index, in any order. */
function isIndexed({ indexes }: Examined, table: TableFacts, { columns }: ForeignKeyFacts): boolean {
  const wanted = new Set(columns.map(foldName));
  const covers = (names: readonly (string | null)[]) =>
    names.length >= wanted.size &&
    names.slice(0, wanted.size).every((name) => name !== null && wanted.has(foldName(name)));
  const key = keyFacts(table.columns).map(({ name }) => name);
  if (hasRowIdColumn(table) && covers(key)) return true;
  return (indexes.get(table.name) ?? []).some((index) =>
    !index.partial && covers(index.columns.map(({ name }) => name))
  );
}
