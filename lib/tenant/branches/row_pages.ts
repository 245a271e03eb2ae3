// Reads a table in pages, in the order of its rowid or key, with every value as it is stored.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { tagged } from "../../sql/words/stored_text.ts";
import { boundValue, guarded, isDoubtful, markOf, storedValue } from "./stored_values.ts";
import { lineOf, readLine, sizeOf } from "./row_lines.ts";
import {
  type AskedStatement,
  type EngineRow,
  mayAll,
  type Row,
  rowsOf,
  rowsWithin,
  type Side,
  type Work,
} from "./work.ts";

/** A table to read. */
export interface PageSource {
  readonly of: Side;
  readonly table: string;
  /** SQL expressions. */
  readonly select: readonly string[];
  /** The expressions that order and identify the rows, and their indexes in `select`. Empty: the table is one page. */
  readonly order: readonly string[];
  readonly keyIndexes: readonly number[];
  readonly reading: Reading;
}

/**
 * How rows are read. `values`: as the engine's reader has them. `lines`: as lines, for remote databases. `sized`: as values of a
 * remote database, which refuses what is too large and ends its transaction. `bytes`: as `sized`, and each text by its bytes, for a
 * remote database that holds texts which are no UTF-8: it would refuse them too. The other three read a page anew, by the bytes of
 * its texts, where one of them may be another text than is stored.
 */
export type Reading = "values" | "lines" | "sized" | "bytes";

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
    const { rows, limit } = yield* this.#page();
    const last = rows.at(-1);
    this.#ended = rows.length < limit;
    if (last === undefined) return [];
    const values = valuesOf(last);
    this.above = source.keyIndexes.map((index) => values[index] ?? null);
    this.#limit = nextLimit(
      rows,
      source.reading === "lines" ? [MAX_LINES, LINE_BYTES] : [MAX_ROWS, PAGE_BYTES],
    );
    return rows;
  }

  *#page(): Work<Page> {
    const { reading, order } = this.source;
    if (reading === "bytes") return yield* this.#exactly(this.#limit);
    const page = reading === "lines" && order.length > 0
      ? yield* this.#lines()
      : yield* this.#rows(this.#limit, guarded);
    return page.rows.some(mayDiffer) ? yield* this.#exactly(page.limit) : page;
  }

  /** The page with the bytes of its texts. */
  *#exactly(most: number): Work<Page> {
    const { rows, limit } = yield* this.#rows(most, tagged);
    return { rows: rows.map((row) => row.map(storedValue)), limit };
  }

  *#rows(most: number, read: (expression: string) => string): Work<EnginePage> {
    const { of, select, order, reading } = this.source;
    const values = select.map(read).join(", ");
    const { sql, params } = this.#statement(values);
    if (order.length === 0) return { rows: yield* rowsOf(of, sql, ...params), limit: Infinity };
    if (reading === "values" || most === 1) {
      return yield* rowsWithin(of, { sql: `${sql} LIMIT ?`, params }, most);
    }
    const page = yield* rowsWithin(of, this.#fitting(values, most), most);
    // There are none, or they are too much for one answer.
    return page.rows.length > 0 ? page : yield* rowsWithin(of, { sql: `${sql} LIMIT ?`, params }, 1);
  }

  /** The rows if all of them fit into an answer, and otherwise none. */
  #fitting(values: string, most: number): AskedStatement {
    const bytes = this.source.select.map((one) => `CAST(${one} AS BLOB)`);
    const sizes = `${this.#statement(sizeOf(bytes)).sql} LIMIT ${most}`;
    const fits = `(WITH sizes(size) AS (${sizes}) SELECT total(size) FROM sizes) <= ${PAGE_BYTES}`;
    const { sql, params } = this.#statement(values, [fits]);
    return { sql: `${sql} LIMIT ?`, params };
  }

  /** Builds a page of lines only where its size is known to fit; a row that is too long is read as values. */
  *#lines(): Work<Page> {
    const { of } = this.source;
    const select = this.source.select.map(guarded);
    const size = this.#statement(sizeOf(select));
    const line = this.#statement(lineOf(select));
    for (let limit = this.#limit;; limit = Math.max(1, Math.floor(limit / 8))) {
      // No alias within: in ORDER BY it would be meant instead of a column of that name.
      const sql =
        `WITH sizes(size) AS (${size.sql} LIMIT ${limit}), lines(line) AS (${line.sql} LIMIT ${limit}) ` +
        `SELECT CASE WHEN (SELECT total(size) FROM sizes) <= ${LINE_BYTES} THEN ` +
        `(SELECT json_group_array(line) FROM lines) END`;
      const [answer] = yield* mayAll(of, [{ sql, params: line.params }]);
      if (!answer?.ok && !["result_too_large", "too_big"].includes(answer?.failure.kind ?? "")) {
        throw answer?.error;
      }
      const [lines] = answer?.ok ? answer.rows[0] ?? [] : [];
      if (typeof lines === "string") return { rows: stringsOf(lines), limit };
      if (limit === 1) return yield* this.#rows(1, guarded);
    }
  }

  /** The parameters are numbered, because another statement may contain the text twice. */
  #statement(
    select: string,
    further: readonly string[] = [],
  ): { readonly sql: string; readonly params: EngineRow } {
    const { above, upTo } = this;
    const { table, order } = this.source;
    const list = order.join(", ");
    const marks = (key: Row, first: number) =>
      key.map((value, at) => markOf(value, `?${first + at}`)).join(", ");
    const conditions = [
      ...further,
      ...(above ? [`(${list}) > (${marks(above, 1)})`] : []),
      ...(upTo ? [`(${list}) <= (${marks(upTo, (above?.length ?? 0) + 1)})`] : []),
    ];
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    const ordered = order.length === 0 ? "" : ` ORDER BY ${list}`;
    const sql = `SELECT ${select} FROM main.${quoted(table)}${where}${ordered}`;
    return { sql, params: [...above ?? [], ...upTo ?? []].map(boundValue) };
  }
}

interface Page {
  readonly rows: readonly ReadRow[];
  readonly limit: number;
}

interface EnginePage extends Page {
  readonly rows: readonly EngineRow[];
}

function mayDiffer(row: ReadRow): boolean {
  return typeof row === "string" ? isDoubtful(row) : row.some(isDoubtful);
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
    const bound = boundValue(value);
    length += typeof bound === "string" || bound instanceof Uint8Array ? bound.length : 8;
  }
  return length;
}

/** Guarantee: the engine's own SQL has written a JSON array of texts. */
function stringsOf(json: string): string[] {
  return JSON.parse(json);
}
