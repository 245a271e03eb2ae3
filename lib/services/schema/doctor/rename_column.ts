// The statement that gives a column a name of its own.
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { TableFacts } from "../schema_facts.ts";
import { freeName } from "./free_name.ts";

/** Puts the table's name before the column's. Views, triggers and indexes follow by themselves. */
export function renameColumn(table: TableFacts, column: string): string {
  const name = freeName(new Set(table.columns.map((one) => foldName(one.name))), `${table.name}_${column}`);
  return `ALTER TABLE ${quoteIdentifier(table.name)} RENAME COLUMN ${quoteIdentifier(column)} TO ${
    quoteIdentifier(name)
  }`;
}
