// Reading a table in pages, in the order of its rowid or of its key, with every value as it is stored.
import { quoteIdentifier as quoted } from "../../../sql/quote.ts";
import type { Connection, EngineValue } from "./connection.ts";

export interface PageSource {
  readonly connection: Connection;
  readonly table: string;
  /** SQL expressions. */
  readonly select: readonly string[];
  /** The expressions that order the rows and tell them apart, and their places in `select`. Empty: one page. */
  readonly order: readonly string[];
  readonly places: readonly number[];
}

/** Rows of the first page, and of any: as many as fit the bytes, because rows can be very long. */
const FIRST_ROWS = 16;
const MAX_ROWS = 2000;
const PAGE_BYTES = 4_000_000;

/** Pages of the rows above one place in the order, up to another; null: from the first, to the last. */
export function* rowPages(
  source: PageSource,
  above: readonly EngineValue[] | null,
  upTo: readonly EngineValue[] | null,
): Generator<EngineValue[][]> {
  const { connection, order, places } = source;
  const prepare = (bounded: boolean) => {
    const statement = connection.database.prepare(pageSql(source, bounded, upTo !== null));
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  };
  const first = prepare(above !== null);
  let later: typeof first | null = above === null ? null : first;
  let limit = FIRST_ROWS;
  for (let after = above;;) {
    const statement = after === null ? first : later ??= prepare(true);
    const page = arrays(statement.all(...after ?? [], ...upTo ?? [], ...order.length === 0 ? [] : [limit]));
    const last = page.at(-1);
    if (last === undefined) return;
    // Before the page is handed out: whoever gets it may take it apart.
    after = places.map((place) => last[place] ?? null);
    const full = page.length === limit;
    limit = nextLimit(page);
    yield page;
    if (!full || order.length === 0) return;
  }
}

/** At most eight times as many, so that a few short rows say little about the ones to come. */
function nextLimit(page: readonly EngineValue[][]): number {
  let bytes = 0;
  for (const row of page) bytes += rowLength(row);
  const fitting = Math.floor(PAGE_BYTES * page.length / Math.max(1, bytes));
  return Math.max(1, Math.min(fitting, page.length * 8, MAX_ROWS));
}

/** About how many bytes a row takes. */
export function rowLength(row: readonly EngineValue[]): number {
  let length = 0;
  for (const value of row) {
    length += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
  }
  return length;
}

function pageSql({ table, select, order }: PageSource, bounded: boolean, ended: boolean): string {
  const rows = `SELECT ${select.join(", ")} FROM ${quoted(table)}`;
  if (order.length === 0) return rows;
  const list = order.join(", ");
  const marks = order.map(() => "?").join(", ");
  const conditions = [
    ...(bounded ? [`(${list}) > (${marks})`] : []),
    ...(ended ? [`(${list}) <= (${marks})`] : []),
  ];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `${rows}${where} ORDER BY ${list} LIMIT ?`;
}

/** With `setReturnArrays(true)` rows are arrays of engine values; the type of `node:sqlite` does not say so. */
function arrays(rows: unknown): EngineValue[][] {
  return Array.isArray(rows) ? rows : [];
}
