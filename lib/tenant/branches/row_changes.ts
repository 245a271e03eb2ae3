// Finds the rows in which a branch differs from its ancestor, table by table, in bounded memory.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { onlyIn, type RowChange, RowMatcher, sameRow } from "./row_change.ts";
import { lastInteger } from "./row_lines.ts";
import { type PageSource, type ReadRow, RowPages, valuesOf } from "./row_pages.ts";
import { storedRows } from "./stored_rows.ts";
import type { TablePair, TableSide } from "./table_pair.ts";
import { type Row, rowsOf, type Work } from "./work.ts";

/** Receives the changes of one page at a time. */
export type TakeChanges = (changes: readonly RowChange[]) => Work<void>;

/** Finds the row changes of one table; `rowsRead` counts the rows read on both sides. */
export function* rowChanges(pair: TablePair, figures: { rowsRead: number }, take: TakeChanges): Work<void> {
  const { ancestor, branch } = pair;
  const found: RowChange[] = [];
  const matcher = new RowMatcher(pair, found);
  const comparison = { pair, figures, matcher, found, flush: () => take(found.splice(0)) };
  if (ancestor === null || branch === null) {
    if (ancestor) yield* eachPage(comparison, ancestor, (row) => found.push(onlyIn("before", row)));
    if (branch) yield* eachPage(comparison, branch, (row) => found.push(onlyIn("after", row)));
  } else if (ancestor.rowid !== null && branch.rowid !== null) yield* byRowid(comparison, ancestor, branch);
  else if (ancestor.rowid === null && branch.rowid === null && pair.key.length > 0) {
    yield* byKey(comparison, ancestor, branch);
  } else {
    yield* eachPage(comparison, ancestor, (row) => matcher.add(row, "before"));
    yield* eachPage(comparison, branch, (row) => matcher.add(row, "after"));
  }
  matcher.rest();
  yield* comparison.flush();
}

interface Comparison {
  readonly pair: TablePair;
  readonly figures: { rowsRead: number };
  readonly matcher: RowMatcher;
  readonly found: RowChange[];
  readonly flush: () => Work<void>;
}

/** Differing rows of a page; rows with the same rowid form one change. */
type Differing = readonly [older: ReadRow | null, newer: ReadRow | null];

/** Reads both sides in rowid order, in which nearly every row meets its counterpart. */
function* byRowid(comparison: Comparison, ancestor: TableSide, branch: TableSide): Work<void> {
  const { pair } = comparison;
  const older = new Cursor(comparison, ancestor);
  const newer = new Cursor(comparison, branch);
  for (;;) {
    yield* older.fill();
    yield* newer.fill();
    if (older.ended && newer.ended) return;
    const differing: Differing[] = [];
    while ((older.ready || older.ended) && (newer.ready || newer.ended) && (older.ready || newer.ready)) {
      const order = older.ended ? 1 : newer.ended ? -1 : compare(older.rowid, newer.rowid);
      const beside: Differing = [order <= 0 ? older.take() : null, order >= 0 ? newer.take() : null];
      if (!sameRead(...beside)) differing.push(beside);
    }
    const before = yield* storedRows(
      sourceOf(ancestor, pair),
      differing.flatMap(([one]) => one === null ? [] : [one]),
    );
    const after = yield* storedRows(
      sourceOf(branch, pair),
      differing.flatMap(([, one]) => one === null ? [] : [one]),
    );
    for (const [one, other] of differing) {
      pairUp(
        comparison,
        one === null ? null : withoutRowid(before(one)),
        other === null ? null : withoutRowid(after(other)),
      );
    }
    yield* comparison.flush();
  }
}

function pairUp({ pair, matcher, found }: Comparison, before: Row | null, after: Row | null): void {
  if (before && after && sameRow(before, after)) return;
  if (before && after && (pair.keyIsRowid || matcher.sameKey(before, after))) {
    found.push({ kind: "changed", before, after });
  } else if (pair.keyIsRowid) {
    if (before) found.push(onlyIn("before", before));
    if (after) found.push(onlyIn("after", after));
  } else {
    if (before) matcher.add(before, "before");
    if (after) matcher.add(after, "after");
  }
}

function sameRead(a: ReadRow | null, b: ReadRow | null): boolean {
  if (a === null || b === null) return false;
  return typeof a === "string" && typeof b === "string" ? a === b : sameRow(valuesOf(a), valuesOf(b));
}

function withoutRowid(row: Row): Row {
  return row.slice(0, -1);
}

/** Compares each page of the ancestor with the same key range of the branch; the engine compares the keys. */
function* byKey(comparison: Comparison, ancestor: TableSide, branch: TableSide): Work<void> {
  const { pair, matcher, figures, flush } = comparison;
  const sources = [sourceOf(ancestor, pair), sourceOf(branch, pair)] as const;
  const keepsLines = !(yield* hasRealKeys(sources[0])) && !(yield* hasRealKeys(sources[1]));
  const [older, newer] = keepsLines ? sources : [withoutLines(sources[0]), withoutLines(sources[1])];
  const pages = new RowPages(older, null, null);
  let above: Row | null = null;
  for (let page = yield* pages.next(); page.length > 0; page = yield* pages.next()) {
    figures.rowsRead += page.length;
    const upTo = pages.lastKey;
    const lines = new Set(page);
    for (const range = new RowPages(newer, above, upTo);;) {
      const rows = yield* range.next();
      if (rows.length === 0) break;
      figures.rowsRead += rows.length;
      const differing = rows.filter((row) => typeof row !== "string" || !lines.delete(row));
      const after = yield* storedRows(newer, differing);
      for (const row of differing) matcher.add(after(row), "after");
    }
    const before = yield* storedRows(older, [...lines]);
    for (const row of lines) matcher.add(before(row), "before");
    matcher.rest();
    yield* flush();
    above = upTo;
  }
  const rest = new RowPages(withoutLines(newer), above, null);
  yield* eachRow(comparison, rest, (row) => comparison.found.push(onlyIn("after", row)));
}

/** Whether keys hold REAL values: a line does not represent them exactly, so it could not find such a key. */
function* hasRealKeys({ of, table, order, reading }: PageSource): Work<boolean> {
  if (reading !== "lines") return true;
  const real = order.map((one) => `typeof(${one}) = 'real'`).join(" OR ");
  return (yield* rowsOf(of, `SELECT 1 FROM ${quoted(table)} WHERE ${real} LIMIT 1`)).length > 0;
}

/** Reads all rows of one side in order, without their rowid, as values because all of them are needed. */
function* eachPage(comparison: Comparison, side: TableSide, take: (row: Row) => void): Work<void> {
  const pages = new RowPages(withoutLines(sourceOf(side, comparison.pair)), null, null);
  yield* eachRow(comparison, pages, (row) => take(side.rowid === null ? row : withoutRowid(row)));
}

function* eachRow({ figures, flush }: Comparison, pages: RowPages, take: (row: Row) => void): Work<void> {
  for (let page = yield* pages.next(); page.length > 0; page = yield* pages.next()) {
    figures.rowsRead += page.length;
    for (const row of page) take(valuesOf(row));
    yield* flush();
  }
}

/** Reads a table's rows one after the other, with the rowid after the columns. */
class Cursor {
  ended = false;
  #page: readonly ReadRow[] = [];
  #at = 0;
  readonly #pages: RowPages;

  constructor(private readonly comparison: Comparison, side: TableSide) {
    this.#pages = new RowPages(sourceOf(side, comparison.pair), null, null);
  }

  get ready(): boolean {
    return this.#at < this.#page.length;
  }

  get rowid(): bigint {
    const read = this.#page[this.#at] ?? [];
    if (typeof read === "string") return lastInteger(read);
    const id = read.at(-1);
    return typeof id === "bigint" ? id : 0n;
  }

  take(): ReadRow {
    return this.#page[this.#at++] ?? [];
  }

  *fill(): Work<void> {
    if (this.ready || this.ended) return;
    this.#page = yield* this.#pages.next();
    this.#at = 0;
    this.comparison.figures.rowsRead += this.#page.length;
    this.ended = this.#page.length === 0;
  }
}

/** Where the table is read by rowid, the rowid follows the columns. */
function sourceOf({ of, table, columns, rowid, reading }: TableSide, { key }: TablePair): PageSource {
  const source = { of, table, reading };
  return rowid === null
    ? { ...source, select: columns, order: key.map((at) => columns[at] ?? "NULL"), keyIndexes: key }
    : { ...source, select: [...columns, rowid], order: [rowid], keyIndexes: [columns.length] };
}

function withoutLines(source: PageSource): PageSource {
  return source.reading === "lines" ? { ...source, reading: "sized" } : source;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
