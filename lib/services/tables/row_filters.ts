// Filters of a table's rows: from what an address says to conditions with bound values. Pure.
import { quoteIdentifier } from "../../sql/words/quote.ts";
import { affinityOf, type SqlParameter } from "../../sql/words/sql_value.ts";
import type { ColumnFacts, TableFacts } from "../schema/schema_facts.ts";
import { comparesAsNumber } from "./table_key.ts";

/** What a filter compares with, by its name in an address. */
export const filterOperators = {
  eq: { label: "is", takesValue: true },
  ne: { label: "is not", takesValue: true },
  lt: { label: "below", takesValue: true },
  le: { label: "at most", takesValue: true },
  gt: { label: "above", takesValue: true },
  ge: { label: "at least", takesValue: true },
  has: { label: "contains", takesValue: true },
  starts: { label: "starts with", takesValue: true },
  null: { label: "is NULL", takesValue: false },
  set: { label: "is not NULL", takesValue: false },
} as const;

/** The name of an operator. */
export type FilterOperator = keyof typeof filterOperators;

/** One condition on a column. */
export interface RowFilter {
  readonly column: string;
  readonly operator: FilterOperator;
  readonly text: string;
}

/** A condition in SQL with the values that it binds. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

const COMPARED: Readonly<Partial<Record<FilterOperator, string>>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};

/** Whether a text names an operator. */
export function isFilterOperator(text: string): text is FilterOperator {
  return Object.hasOwn(filterOperators, text);
}

/** The condition of a filter; null for a column that the table does not have. */
export function filterCondition(table: TableFacts, filter: RowFilter): Condition | null {
  const column = table.columns.find(({ name }) => name === filter.column);
  if (column === undefined) return null;
  const name = quoteIdentifier(column.name);
  const { operator, text } = filter;
  if (operator === "null") return { sql: `${name} IS NULL`, params: [] };
  if (operator === "set") return { sql: `${name} IS NOT NULL`, params: [] };
  if (operator === "has") return { sql: `${name} LIKE ? ESCAPE '\\'`, params: [`%${escaped(text)}%`] };
  if (operator === "starts") return { sql: `${name} LIKE ? ESCAPE '\\'`, params: [`${escaped(text)}%`] };
  return { sql: `${name} ${COMPARED[operator]} ?`, params: [compared(column, text)] };
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/**
 * A column with a type makes the right value of a text by itself. Without one, digits are compared as a number, which
 * is what such columns mostly hold.
 */
function compared({ type }: ColumnFacts, text: string): SqlParameter {
  if (comparesAsNumber(type) || affinityOf(type) === "TEXT") return text;
  return /^[+-]?\d+(\.\d+)?$/.test(text) && Number.isSafeInteger(Math.trunc(Number(text)))
    ? Number(text)
    : text;
}
