// The index that lets the target of a foreign key be one.
import { quoteIdentifier } from "../../../sql/quote.ts";
import type { ForeignKeyFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import { freeName } from "./free_name.ts";

/** Fails where several rows have the same values. */
export function uniqueTarget({ takenNames }: Examined, { toTable, toColumns }: ForeignKeyFacts): string {
  const name = freeName(takenNames, `${toTable}_${toColumns.join("_")}_unique`);
  return `CREATE UNIQUE INDEX IF NOT EXISTS ${quoteIdentifier(name)} ON ${quoteIdentifier(toTable)} (${
    toColumns.map(quoteIdentifier).join(", ")
  })`;
}
