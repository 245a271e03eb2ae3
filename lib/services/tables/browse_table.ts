// One page of a table's rows, found by key: the page's cost does not grow with the rows before it.
import type { QueryMeta } from "../../query/query_call.ts";
import { quoteIdentifier } from "../../sql/words/quote.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { readResult } from "../query/read_result.ts";
import { readStatement } from "../query/read_statement.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { TableFacts } from "../schema/schema_facts.ts";
import { type PageOrder, pageSegments, type RowPlace } from "./page_segments.ts";
import { cellColumns, readCells, type RowCell } from "./row_cells.ts";
import { type Condition, filterCondition, type RowFilter } from "./row_filters.ts";
import { cellParameter, tableKey } from "./table_key.ts";

/** Which rows are wanted. */
export interface BrowseInput {
  readonly table: TableFacts;
  readonly filters: readonly RowFilter[];
  /** The column by which they are sorted; null: by key alone. */
  readonly sort: { readonly column: string; readonly descending: boolean } | null;
  /** The last row of the page before. */
  readonly after: RowPlace | null;
  readonly signal: () => AbortSignal | null;
}

/** A row that is shown. */
export interface BrowsedRow {
  /** Null where nothing names the row. */
  readonly key: readonly SqlParameter[] | null;
  readonly cells: readonly RowCell[];
}

/** The page. */
export interface BrowsedPage {
  /** The columns of the cells: the first of the table. */
  readonly columns: readonly string[];
  readonly rows: readonly BrowsedRow[];
  /** Where the next page begins; null on the last one. */
  readonly next: RowPlace | null;
  /** Whether there are more rows that no address can name: their place is too long for one. */
  readonly cutOff: boolean;
  readonly meta: Pick<QueryMeta, "rowsRead" | "costUsd" | "durationMs">;
}

/** Ends the texts of looks at tables: the log shows where they come from, and a person's history leaves them out. */
export const TABLE_MARK = "-- rows of a table, in the console";
/** Rows of a page. */
export const PAGE_ROWS = 100;
/** Characters or bytes of a value that are shown. */
const CELL_LENGTH = 200;
/** Columns that are shown: more make a page that nobody reads. */
const MOST_COLUMNS = 100;
/** Characters of a place in an address. */
const PLACE_LENGTH = 1500;

/** Billed as the queries that it takes, mostly one. Errors: those of the pipeline. */
export async function browseTable(ctx: StatementsContext, input: BrowseInput): Promise<BrowsedPage> {
  const { table } = input;
  const key = tableKey(table);
  const order: PageOrder = { key: key?.columns ?? [], sort: input.sort };
  const columns = table.columns.slice(0, MOST_COLUMNS).map(({ name }) => name);
  const filters = input.filters.flatMap((filter) => filterCondition(table, filter) ?? []);
  const placed = [...order.key, ...(input.sort ? [input.sort.column] : [])];
  const cells = [cellColumns(columns, CELL_LENGTH), ...placed.map(exactColumns)]
    .filter((one) => one !== "").join(", ");
  const read = { rowsRead: 0, costUsd: 0, durationMs: 0 };
  const found: Found[] = [];
  for (const segment of pageSegments(order, input.after)) {
    const wanted = PAGE_ROWS + 1 - found.length;
    if (wanted <= 0) break;
    const where = [...filters, ...segment.conditions];
    const { json, meta } = await readStatement(ctx, {
      sql: `SELECT ${cells} FROM ${quoteIdentifier(table.name)}${
        whereText(where)
      }${segment.orderBy} LIMIT ? ${TABLE_MARK}`,
      params: [...where.flatMap(({ params }) => params), wanted],
      signal: input.signal,
    });
    read.rowsRead += meta.rowsRead;
    read.costUsd += meta.costUsd;
    read.durationMs += meta.durationMs;
    found.push(...foundRows(json, columns.length, order));
  }
  return { columns, ...pageOf(found, key !== null), meta: read };
}

interface Found {
  readonly cells: readonly RowCell[];
  readonly place: RowPlace;
  /** Whether the place can be sent back as it is. */
  readonly isExact: boolean;
}

function foundRows(json: string, count: number, { key, sort }: PageOrder): Found[] {
  return readResult(json).rows.map((row) => {
    const cells = readCells(row, { at: 0, count, most: CELL_LENGTH });
    const placed = readCells(row, { at: 2 * count, count: key.length + (sort ? 1 : 0), most: Infinity });
    const exact = placed.map(cellParameter);
    return {
      cells,
      place: { key: exact.slice(0, key.length), sorted: sort ? exact[key.length] ?? null : null },
      isExact: placed.every(({ type }) => type !== INEXACT),
    };
  });
}

function pageOf(found: readonly Found[], hasKey: boolean): Pick<BrowsedPage, "rows" | "next" | "cutOff"> {
  const rows = found.slice(0, PAGE_ROWS);
  const last = found.length > PAGE_ROWS ? rows.at(-1) : undefined;
  const named = last !== undefined && hasKey && isNameable(last);
  return {
    rows: rows.map((row) => ({ cells: row.cells, key: hasKey && isNameable(row) ? row.place.key : null })),
    next: named ? last.place : null,
    cutOff: last !== undefined && !named,
  };
}

/** JSON has no infinite numbers, and an address has an end. */
function isNameable({ place, isExact }: Found): boolean {
  return isExact &&
    [...place.key, place.sorted].every((value) => typeof value !== "number" || Number.isFinite(value)) &&
    JSON.stringify(place).length <= PLACE_LENGTH;
}

/** Stands for the type of a text with U+0000: one engine reads it up to there, which names another row, and none takes it back. */
const INEXACT = "inexact";

/** The whole value and its type: it has to name the row again. */
function exactColumns(column: string): string {
  const name = quoteIdentifier(column);
  return `${name}, CASE WHEN typeof(${name}) = 'text' AND instr(${name}, char(0)) > 0 THEN '${INEXACT}' ELSE typeof(${name}) END`;
}

function whereText(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.map(({ sql }) => `(${sql})`).join(" AND ")}`;
}
