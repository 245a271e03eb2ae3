// Numeric columns that hold text: comparisons, sums and sorting of theirs go wrong without a word.
import { affinityOf } from "../../../sql/affinity.ts";
import { quoteIdentifier } from "../../../sql/quote.ts";
import { foldName } from "../../../sql/fold_name.ts";
import type { ColumnFacts, TableFacts } from "../schema_facts.ts";
import { batchCall } from "./api_call.ts";
import { type Examined, probeKey, valueBits } from "./examined.ts";
import type { Found } from "./finding.ts";
import { freeName } from "./free_name.ts";

export function integerTextMix({ schema, rows, address }: Examined): Found[] {
  const isMixed = (table: TableFacts, column: ColumnFacts) =>
    promisesNumbers(column) &&
    ((rows.values.get(probeKey(table.name, column.name)) ?? 0) & (valueBits.text | valueBits.blob)) !== 0;
  return schema.tables.flatMap((table) =>
    table.columns.filter((column) => isMixed(table, column)).map((column) => ({
      table: table.name,
      column: column.name,
      message: `Move the text out of ${column.name} of ${table.name}, which is declared ${column.type}`,
      suggestion: batchCall(address, moveText(table, column)),
    }))
  );
}

/** Types that are NUMERIC to the engine only because it does not know them (DATE, JSON) promise nothing. */
export function promisesNumbers({ type, generated }: ColumnFacts): boolean {
  const affinity = affinityOf(type);
  if (generated) return false;
  return affinity === "INTEGER" || affinity === "REAL" ||
    (affinity === "NUMERIC" && /NUM|DEC|BOOL|MONEY/i.test(type));
}

/** Nothing is lost: what is no number goes to a column beside it; a column that must have a value gets a number. */
function moveText(table: TableFacts, column: ColumnFacts): string[] {
  const name = quoteIdentifier(column.name);
  const taken = new Set(table.columns.map((one) => foldName(one.name)));
  const beside = quoteIdentifier(freeName(taken, `${column.name}_text`));
  const left = column.notNull || column.pk > 0 ? `CAST(${name} AS ${affinityOf(column.type)})` : "NULL";
  return [
    `ALTER TABLE ${quoteIdentifier(table.name)} ADD COLUMN ${beside} TEXT`,
    `UPDATE ${quoteIdentifier(table.name)} SET ${beside} = ${name}, ${name} = ${left} ` +
    `WHERE typeof(${name}) IN ('text', 'blob')`,
  ];
}
