// Checks of foreign keys: keys that cannot hold, and keys without an index.
import { foldName } from "../../../sql/words/names.ts";
import { nearMatches } from "../../../sql/hints/hints.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined, Found } from "./examined.ts";
import {
  anyOrder,
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
export function* brokenForeignKey(examined: Examined): Generator<Found> {
  const hintFor = hintsFor(examined);
  for (const table of examined.schema.tables) {
    for (const key of table.foreignKeys) {
      const fault = foreignKeyFault(examined, table, key);
      if (fault === null) continue;
      const suggestion = needsNewDefinition(fault)
        ? rebuildCall(examined, table)
        : fault === "not_unique"
        ? uniqueTarget(examined, key)
        : forOrphans(table, key);
      if (suggestion === null) continue;
      yield {
        table: table.name,
        column: key.columns[0] ?? null,
        message: `${fixes[fault]}: ${key.columns.join(", ")} of ${table.name} refers to ${targetOf(key)}${
          hintFor(key, fault)
        }`,
        suggestion,
      };
    }
  }
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

/** Missing tables for which near names are looked for: each is compared with the names of all tables. */
const MAX_HINTS = 20;

function hintsFor({ schema }: Examined): (key: ForeignKeyFacts, fault: ForeignKeyFault) => string {
  const known = new Map<string, string>();
  return ({ toTable }, fault) => {
    const found = known.get(toTable);
    if (fault !== "no_table" || found === undefined && known.size >= MAX_HINTS) return "";
    if (found !== undefined) return found;
    const near = nearMatches(toTable, schema.tables.map(({ name }) => name));
    const hint = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
    known.set(toTable, hint);
    return hint;
  };
}

/** Foreign keys without an index: each delete in the target table reads the whole table. */
export function unindexedForeignKey(examined: Examined): Found[] {
  return examined.schema.tables.flatMap((table) => {
    if (table.foreignKeys.length === 0) return [];
    const indexed = indexedColumns(examined, table);
    return table.foreignKeys.filter(({ columns }) => !indexed.has(anyOrder(columns))).map(
      ({ columns, toTable }) => {
        const name = freeName(examined.takenNames, `${table.name}_${columns.join("_")}`);
        return {
          table: table.name,
          column: columns[0] ?? null,
          message: `Index ${columns.join(", ")} of ${table.name}, which refers to ${toTable}`,
          suggestion: `CREATE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${
            quoteIdentifier(table.name)
          } (${columns.map(quoteIdentifier).join(", ")})`,
        };
      },
    );
  });
}

/** The lists of columns that are the first ones of an index, in any order. */
function indexedColumns({ indexes }: Examined, table: TableFacts): ReadonlySet<string> {
  const key = keyFacts(table.columns).map(({ name }) => name);
  const own = (indexes.get(table.name) ?? []).filter(({ partial }) => !partial)
    .map(({ columns }) => columns.map(({ name }) => name));
  return new Set([...hasRowIdColumn(table) ? [key] : [], ...own].flatMap(beginnings));
}

function beginnings(columns: readonly (string | null)[]): string[] {
  const end = columns.indexOf(null);
  const named = columns.slice(0, end < 0 ? undefined : end).filter((name) => name !== null);
  return named.map((_, at) => anyOrder(named.slice(0, at + 1)));
}
