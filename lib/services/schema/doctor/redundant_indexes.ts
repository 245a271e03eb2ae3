// Indexes that cost each write and answer nothing that another one does not.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import type { Examined, IndexFacts } from "./examined.ts";
import type { Found } from "./finding.ts";
import { hasRowIdColumn } from "./rebuild_table.ts";

export function redundantIndexes({ schema, indexes }: Examined): Found[] {
  return schema.tables.flatMap((table) => {
    const own = (indexes.get(table.name) ?? []).filter((index) =>
      !index.partial && index.columns.every(({ name }) => name !== null)
    );
    return own.filter(({ origin }) => origin === "c").flatMap((index) => {
      const better = coveredBy(table, index, own);
      return better === null ? [] : [{
        table: table.name,
        column: index.columns[0]?.name ?? null,
        message: `Drop the index ${index.name} of ${table.name}: ${better} does what it does`,
        suggestion: `DROP INDEX IF EXISTS ${quoteIdentifier(index.name)}`,
      }];
    });
  });
}

/** What makes the index superfluous; null where nothing does. */
function coveredBy(table: TableFacts, index: IndexFacts, own: readonly IndexFacts[]): string | null {
  const key = table.columns.filter(({ pk }) => pk > 0);
  if (hasRowIdColumn(table) && index.columns.length === 1 && index.columns[0]?.name === key[0]?.name) {
    return "the primary key";
  }
  const better = own.find((other) => other !== index && covers(other, index));
  return better ? (better.origin === "c" ? `the index ${better.name}` : "a UNIQUE or PRIMARY KEY") : null;
}

/** Of two that do the same, the one made by a constraint stays, then the unique one, then the first by name. */
function covers(other: IndexFacts, index: IndexFacts): boolean {
  const prefix = index.columns.every((column, at) => sameColumn(column, other.columns[at]));
  if (!prefix) return false;
  const equal = other.columns.length === index.columns.length;
  if (index.unique) return equal && other.unique && stays(other, index);
  return !equal || other.unique || stays(other, index);
}

function stays(other: IndexFacts, index: IndexFacts): boolean {
  return other.origin !== "c" || other.name < index.name;
}

type Column = IndexFacts["columns"][number];

function sameColumn(a: Column, b: Column | undefined): boolean {
  return b !== undefined && foldName(a.name ?? "") === foldName(b.name ?? "") && a.collation === b.collation;
}
