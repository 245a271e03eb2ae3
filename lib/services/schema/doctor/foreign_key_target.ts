// What a foreign key points at, and the condition for rows whose target is not there.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";

export type ForeignKeyTarget =
  | { readonly state: "no_table" | "no_column" }
  /** The engine takes only a primary key or a unique index for a target: each write would fail. */
  | { readonly state: "not_unique" | "sound"; readonly parent: TableFacts };

export function foreignKeyTarget(
  { schema, indexes }: Pick<Examined, "schema" | "indexes">,
  { columns, toTable, toColumns }: ForeignKeyFacts,
): ForeignKeyTarget {
  const parent = schema.tables.find(({ name, kind }) => kind === "table" && name === toTable);
  if (!parent) return { state: "no_table" };
  const known = new Set(parent.columns.map(({ name }) => name));
  if (toColumns.length !== columns.length || toColumns.some((name) => !known.has(name))) {
    return { state: "no_column" };
  }
  const key = parent.columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const unique = (indexes.get(parent.name) ?? []).filter((index) => index.unique && !index.partial)
    .map((index) => index.columns.map(({ name }) => name ?? ""));
  const sound = [key, ...unique].some((names) => sameNames(names, toColumns));
  return { state: sound ? "sound" : "not_unique", parent };
}

/**
 * True for rows of `child` (a quoted name) that point at nothing. The plus takes the child's affinity off, so that
 * values are compared as the engine does when it enforces the key, by the parent's index.
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

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  const names = new Set(a.map(foldName));
  return a.length === b.length && b.every((name) => names.has(foldName(name)));
}
