// Why a foreign key does not hold.
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import { type Examined, probeKey } from "./examined.ts";
import { foreignKeyTarget } from "./foreign_key_target.ts";

export type ForeignKeyFault = "no_table" | "no_column" | "duplicates" | "not_unique" | "orphans";

/** Null for a key that holds, as far as rows were looked at. */
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

/** No change of rows and no index makes it hold. */
export function isHopeless(fault: ForeignKeyFault): boolean {
  return fault === "no_table" || fault === "no_column" || fault === "duplicates";
}
