// What the address of a table's page says: filters, order, place, and the row that is open.
import type { RowPlace } from "../../../../lib/services/tables/page_segments.ts";
import { isFilterOperator, type RowFilter } from "../../../../lib/services/tables/row_filters.ts";
import { keyText, readKeyText } from "../../../../lib/services/tables/table_key.ts";
import type { TableFacts } from "../../../../lib/services/schema/schema_facts.ts";
import type { TableKey } from "../../../../lib/services/tables/table_key.ts";
import type { SqlParameter } from "../../../../lib/sql/words/sql_value.ts";

/** A view of a table. */
export interface TableQuery {
  readonly filters: readonly RowFilter[];
  readonly sort: { readonly column: string; readonly descending: boolean } | null;
  readonly after: RowPlace | null;
}

/** Filters of one view. */
const MOST_FILTERS = 10;

/** Reads the address. What names no column of the table, or cannot be read, is left out. */
export function readTableQuery(search: URLSearchParams, table: TableFacts, key: TableKey | null): TableQuery {
  const names = new Set(table.columns.map(({ name }) => name));
  const [columns, operators, texts] = [search.getAll("f"), search.getAll("o"), search.getAll("v")];
  const filters = columns.slice(0, MOST_FILTERS).flatMap((column, at): RowFilter[] => {
    const operator = operators[at] ?? "";
    return names.has(column) && isFilterOperator(operator)
      ? [{ column, operator, text: texts[at] ?? "" }]
      : [];
  });
  const column = search.get("sort");
  const sort = column !== null && names.has(column)
    ? { column, descending: search.get("dir") === "desc" }
    : null;
  return { filters, sort, after: key === null ? null : readPlace(search.get("after"), key, sort !== null) };
}

function readPlace(text: string | null, key: TableKey, sorted: boolean): RowPlace | null {
  if (text === null) return null;
  const values = readKeyText(text, key.columns.length + (sorted ? 1 : 0));
  if (values === null) return null;
  return { key: values.slice(0, key.columns.length), sorted: sorted ? values.at(-1) ?? null : null };
}

/** The query string of a view, with a question mark; empty where nothing is chosen. */
export function tableSearch(
  { filters, sort, after }: TableQuery,
  more: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams();
  for (const { column, operator, text } of filters) {
    search.append("f", column);
    search.append("o", operator);
    search.append("v", text);
  }
  if (sort !== null) {
    search.set("sort", sort.column);
    if (sort.descending) search.set("dir", "desc");
  }
  if (after !== null) {
    const place: SqlParameter[] = [...after.key, ...(sort === null ? [] : [after.sorted])];
    search.set("after", keyText(place));
  }
  for (const [name, value] of Object.entries(more)) search.set(name, value);
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
