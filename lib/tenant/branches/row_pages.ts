// Reads a table in pages, in the order of its rowid or key, with every value as it is stored.
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import { lineOf, readLine, sizeOf } from "./row_lines.ts";
import { mayAll, type Row, rowsOf, rowsWithin, type Side, type Work } from "./work.ts";

/** A table to read. */
export interface PageSource {
  readonly of: Side;
  readonly table: string;
  /** SQL expressions. */
  readonly select: readonly string[];
  /** The expressions that order and identify the rows, and their indexes in `select`. Empty: the table is one page. */
  readonly order: readonly string[];
  readonly keyIndexes: readonly number[];
  /** Rows are read as lines. */
  readonly byLine: boolean;
}

/** A row as it was read: its values, or the line of them. */
export type ReadRow = Row | string;

/** The most rows of the first page and of later pages; the bytes of a page are bounded too, because rows can be long. */
const FIRST_ROWS = 16;
const MAX_ROWS = 2000;
const MAX_LINES = 16_000;
const PAGE_BYTES = 4_000_000;
/** Bytes of a page of lines: sqld makes no text longer than about 5 MB, and quoting can multiply a row's length. */
const LINE_BYTES = 1_000_000;

/** Reads the rows after the key `above` up to the key `upTo`, page by page; null: from the first, to the last. */
export class RowPages {
  #limit = FIRST_ROWS;
  #ended = false;

  constructor(
    private readonly source: PageSource,
    private above: Row | null,
    private readonly upTo: Row | null,
  ) {}

  /** The key of the last row read so far. */
  get lastKey(): Row | null {
    return this.above;
  }

  /** Reads the next rows; an empty page ends the table. */
  *next(): Work<readonly ReadRow[]> {
    if (this.#ended) return [];
    const { source } = this;
    const { rows, limit } = source.byLine && source.order.length > 0
      ? yield* this.#lines()
      : yield* this.#rows(this.#limit);
    const last = rows.at(-1);
    this.#ended = rows.length < limit;
    if (last === undefined) return [];
    const values = valuesOf(last);
    this.above = source.keyIndexes.map((index) => values[index] ?? null);
    this.#limit = nextLimit(rows, source.byLine ? [MAX_LINES, LINE_BYTES] : [MAX_ROWS, PAGE_BYTES]);
    return rows;
  }

  *#rows(most: number): Work<Page> {
    const { of, select, order } = this.source;
    const { sql, params } = this.#statement(select.join(", "));
    if (order.length > 0) return yield* rowsWithin(of, { sql: `${sql} LIMIT ?`, params }, most);
    return { rows: yield* rowsOf(of, sql, ...params), limit: Infinity };
  }

  /** Builds a page of lines only where its size is known to fit; a row that is too long is read as values. */
  *#lines(): Work<Page> {
    const { of, select } = this.source;
    const size = this.#statement(`${sizeOf(select)} AS size`);
    const line = this.#statement(`${lineOf(select)} AS line`);
    for (let limit = this.#limit;; limit = Math.max(1, Math.floor(limit / 8))) {
      const sql = `SELECT CASE WHEN bytes <= ${LINE_BYTES} THEN ` +
        `(SELECT json_group_array(line) FROM (${line.sql} LIMIT ${limit})) END ` +
        `FROM (SELECT total(size) AS bytes FROM (${size.sql} LIMIT ${limit}))`;
      const [answer] = yield* mayAll(of, [{ sql, params: line.params }]);
      if (!answer?.ok && !["result_too_large", "too_big"].includes(answer?.failure.kind ?? "")) {
        throw answer?.error;
      }
      const [lines] = answer?.ok ? answer.rows[0] ?? [] : [];
      if (typeof lines === "string") return { rows: stringsOf(lines), limit };
      if (limit === 1) return yield* this.#rows(1);
    }
  }

  /** The parameters are numbered, because another statement may contain the text twice. */
  #statement(select: string): { readonly sql: string; readonly params: Row } {
    const { above, upTo } = this;
    const { table, order } = this.source;
    const list = order.join(", ");
    const marks = (first: number) => order.map((_, at) => `?${first + at}`).join(", ");
    const conditions = [
      ...(above ? [`(${list}) > (${marks(1)})`] : []),
      ...(upTo ? [`(${list}) <= (${marks((above?.length ?? 0) + 1)})`] : []),
    ];
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    const ordered = order.length === 0 ? "" : ` ORDER BY ${list}`;
    const sql = `SELECT ${select} FROM ${quoted(table)}${where}${ordered}`;
    return { sql, params: [...above ?? [], ...upTo ?? []] };
  }
}

interface Page {
  readonly rows: readonly ReadRow[];
  readonly limit: number;
}

/** The values of a row. */
export function valuesOf(row: ReadRow): Row {
  return typeof row === "string" ? readLine(row) : row;
}

/** Grows a page at most eightfold, because a few short rows say little about later ones. */
function nextLimit(
  page: readonly ReadRow[],
  [most, mostBytes]: readonly [rows: number, bytes: number],
): number {
  let bytes = 0;
  for (const row of page) bytes += typeof row === "string" ? row.length : rowLength(row);
  const fitting = Math.floor(mostBytes * page.length / Math.max(1, bytes));
  return Math.max(1, Math.min(fitting, page.length * 8, most));
}

/** About how many bytes a row takes. */
export function rowLength(row: Row): number {
  let length = 0;
  for (const value of row) {
    length += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
  }
  return length;
}

/** Guarantee: the engine's own SQL has written a JSON array of texts. */
function stringsOf(json: string): string[] {
  return JSON.parse(json);
}
