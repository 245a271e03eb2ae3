// What a foreign key points at, why it does not hold, and the texts that its checks and repairs need.
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { IndexFacts } from "../read_indexes.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import { type Examined, probeKey } from "./examined.ts";
import { freeName } from "./suggestions.ts";

/** The target of a foreign key. */
export type ForeignKeyTarget =
  | { readonly state: "no_table" | "no_column" }
  /** The engine accepts only a primary key or a unique index as a target; otherwise each write fails. */
  | { readonly state: "not_unique" | "sound"; readonly parent: TableFacts };

/** Finds the table that a foreign key points at, and whether the engine accepts it as a target. */
export function foreignKeyTarget(
  { byName, indexes }: Pick<Examined, "byName" | "indexes">,
  { columns, toTable, toColumns }: ForeignKeyFacts,
): ForeignKeyTarget {
  const parent = byName.get(foldName(toTable));
  if (parent?.kind !== "table") return { state: "no_table" };
  const known = new Set(parent.columns.map(({ name }) => name));
  if (toColumns.length !== columns.length || toColumns.some((name) => !known.has(name))) {
    return { state: "no_column" };
  }
  const sound = uniqueKeys(parent, indexes.get(parent.name) ?? []).has(anyOrder(toColumns));
  return { state: sound ? "sound" : "not_unique", parent };
}

const ofTables = new WeakMap<TableFacts, ReadonlySet<string>>();

/** What the engine accepts as a target in the table, read once for the thousands of keys that may point at it. */
function uniqueKeys(table: TableFacts, indexes: readonly IndexFacts[]): ReadonlySet<string> {
  const known = ofTables.get(table);
  if (known !== undefined) return known;
  const key = table.columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const unique = indexes.filter((index) => index.unique && !index.partial)
    .map((index) => index.columns.map(({ name }) => name ?? ""));
  const keys = new Set([key, ...unique].map(anyOrder));
  ofTables.set(table, keys);
  return keys;
}

/** The same text for the same columns, whatever their order; names contain no U+0000. */
export function anyOrder(columns: readonly string[]): string {
  return columns.map(foldName).sort().join("\u0000");
}

/**
 * A condition that is true for rows of `child` (a quoted name) without a target. The plus removes the affinity of the
 * child's column, so that values are compared as the engine does when it enforces the key.
 */
export function orphanCondition(child: string, { columns, toTable, toColumns }: ForeignKeyFacts): string {
  const given = columns.map((name) => `${child}.${quoteIdentifier(name)} IS NOT NULL`);
  const equal = columns.map((name, at) =>
    `target.${quoteIdentifier(toColumns[at] ?? "")} = +${child}.${quoteIdentifier(name)}`
  );
  return `${given.join(" AND ")} AND NOT EXISTS (SELECT 1 FROM ${quoteIdentifier(toTable)} AS target WHERE ${
    equal.join(" AND ")
  })`;
}

/** Why a foreign key does not hold. */
export type ForeignKeyFault = "no_table" | "no_column" | "duplicates" | "not_unique" | "orphans";

/** Null for a key that holds, as far as rows were read. */
export function foreignKeyFault(
  examined: Examined,
  table: TableFacts,
  key: ForeignKeyFacts,
): ForeignKeyFault | null {
  const { state } = foreignKeyTarget(examined, key);
  if (state === "no_table" || state === "no_column") return state;
  if (state === "not_unique") {
    return examined.rows.duplicates.has(probeKey(key.toTable, ...key.toColumns)) ? "duplicates" : state;
  }
  return examined.rows.orphans.has(probeKey(table.name, ...key.columns, key.toTable)) ? "orphans" : null;
}

/** Whether only a new definition of the table helps: no change of rows and no index makes the key hold. */
export function needsNewDefinition(fault: ForeignKeyFault): boolean {
  return fault === "no_table" || fault === "no_column" || fault === "duplicates";
}

/**
 * A unique index that makes the target of a foreign key acceptable. It fails where several rows have the same values.
 */
export function uniqueTarget({ takenNames }: Examined, { toTable, toColumns }: ForeignKeyFacts): string {
  const name = freeName(takenNames, `${toTable}_${toColumns.join("_")}_unique`);
  return `CREATE UNIQUE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${quoteIdentifier(toTable)} (${
    toColumns.map(quoteIdentifier).join(", ")
  })`;
}
