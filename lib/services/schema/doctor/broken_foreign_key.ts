// Foreign keys that cannot hold: the target is missing or no key, or rows point at nothing.
import { nearMatches } from "../../../sql/near_matches.ts";
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { ForeignKeyFacts, TableFacts } from "../schema_facts.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";
import { type ForeignKeyFault, foreignKeyFault, isHopeless } from "./foreign_key_fault.ts";
import { orphanCondition } from "./foreign_key_target.ts";
import { rebuildCall } from "./new_definition.ts";
import { uniqueTarget } from "./unique_target.ts";

export function brokenForeignKey(examined: Examined): Found[] {
  return examined.schema.tables.flatMap((table) => {
    const faults = table.foreignKeys.flatMap((key) => {
      const fault = foreignKeyFault(examined, table, key);
      return fault === null ? [] : [{ key, fault }];
    });
    return faults.flatMap(({ key, fault }) => {
      const suggestion = isHopeless(fault)
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

/** References become NULL where they may; rows that must refer to something and do not are deleted. */
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
