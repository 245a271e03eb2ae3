// Rows in which a branch differs from its ancestor, table by table, in bounded memory.
import type { EngineValue } from "./connection.ts";
import { type PageSource, rowPages } from "./row_pages.ts";
import type { TablePair, TableSide } from "./table_pair.ts";

export type Row = readonly EngineValue[];

export type RowChange =
  | { readonly kind: "added"; readonly before: null; readonly after: Row }
  | { readonly kind: "removed"; readonly before: Row; readonly after: null }
  | { readonly kind: "changed"; readonly before: Row; readonly after: Row };

/** Rows that wait for their other half at most; beyond it a changed row counts as removed and added. */
const MAX_HELD = 200_000;

/** `rowsRead` counts what was looked at on both sides. */
export function* rowChanges(pair: TablePair, figures: { rowsRead: number }): Generator<RowChange> {
  const { ancestor, branch } = pair;
  const matcher = new Matcher(pair);
  if (ancestor === null || branch === null) {
    for (const side of [ancestor, branch]) {
      if (side) { for (const [row] of rowsOf(side, pair, figures)) yield alone(row, side === branch); }
    }
    return;
  }
  if (ancestor.rowid !== null && branch.rowid !== null) yield* byRowid(pair, matcher, figures);
  else if (ancestor.rowid === null && branch.rowid === null) yield* byKey(pair, matcher, figures);
  else {
    for (const [row] of rowsOf(ancestor, pair, figures)) yield* matcher.add(row, "before");
    for (const [row] of rowsOf(branch, pair, figures)) yield* matcher.add(row, "after");
  }
  yield* matcher.rest();
}

export function sameValue(a: EngineValue | undefined, b: EngineValue | undefined): boolean {
  if (a === b) return true;
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false;
  // A loop: a callback for each byte would take most of the time of a comparison.
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

export function sameRow(a: Row, b: Row): boolean {
  for (let at = 0; at < a.length; at++) if (!sameValue(a[at], b[at])) return false;
  return true;
}

/** Both sides in the order of the rowid: nearly every row stands beside itself. */
function* byRowid(pair: TablePair, matcher: Matcher, figures: { rowsRead: number }): Generator<RowChange> {
  const { ancestor, branch } = pair;
  if (!ancestor || !branch) return;
  const older = rowsOf(ancestor, pair, figures);
  const newer = rowsOf(branch, pair, figures);
  let a = older.next();
  let b = newer.next();
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : compare(a.value[1], b.value[1]);
    if (order === 0 && !a.done && !b.done) {
      const [before] = a.value;
      const [after] = b.value;
      if (!sameRow(before, after)) {
        if (pair.keyIsRowid || matcher.sameKey(before, after)) yield { kind: "changed", before, after };
        else {
          yield* matcher.add(before, "before");
          yield* matcher.add(after, "after");
        }
      }
      a = older.next();
      b = newer.next();
    } else if (order < 0 && !a.done) {
      if (pair.keyIsRowid) yield alone(a.value[0], false);
      else yield* matcher.add(a.value[0], "before");
      a = older.next();
    } else if (!b.done) {
      if (pair.keyIsRowid) yield alone(b.value[0], true);
      else yield* matcher.add(b.value[0], "after");
      b = newer.next();
    }
  }
}

/** One page of the ancestor at a time against the same range of the branch; the engine knows how keys compare. */
function* byKey(pair: TablePair, matcher: Matcher, figures: { rowsRead: number }): Generator<RowChange> {
  const { ancestor, branch } = pair;
  if (!ancestor || !branch) return;
  const newer = sourceOf(branch, pair);
  let above: EngineValue[] | null = null;
  for (const page of rowPages(sourceOf(ancestor, pair), null, null)) {
    const last: Row = page.at(-1) ?? [];
    const upTo: EngineValue[] = pair.key.map((at) => last[at] ?? null);
    figures.rowsRead += page.length;
    for (const row of page) yield* matcher.add(row, "before");
    for (const rows of rowPages(newer, above, upTo)) {
      figures.rowsRead += rows.length;
      for (const row of rows) yield* matcher.add(row, "after");
    }
    yield* matcher.rest();
    above = upTo;
  }
  for (const rows of rowPages(newer, above, null)) {
    figures.rowsRead += rows.length;
    for (const row of rows) yield alone(row, true);
  }
}

/** Rows of one side in order, with their rowid (0 where it has none). */
function* rowsOf(
  side: TableSide,
  pair: TablePair,
  figures: { rowsRead: number },
): Generator<readonly [Row, bigint], undefined> {
  for (const page of rowPages(sourceOf(side, pair), null, null)) {
    figures.rowsRead += page.length;
    for (const row of page) {
      const id = side.rowid === null ? 0n : row.pop();
      yield [row, typeof id === "bigint" ? id : 0n];
    }
  }
  return undefined;
}

/** A rowid is read behind the columns. */
function sourceOf({ connection, table, columns, rowid }: TableSide, { key }: TablePair): PageSource {
  return rowid === null
    ? { connection, table, select: columns, order: key.map((at) => columns[at] ?? "NULL"), places: key }
    : { connection, table, select: [...columns, rowid], order: [rowid], places: [columns.length] };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function alone(row: Row, added: boolean): RowChange {
  return added ? { kind: "added", before: null, after: row } : { kind: "removed", before: row, after: null };
}

/** Finds for rows of one side those of the other with the same key; without a key, with the same content. */
class Matcher {
  readonly #held = { before: new Map<string, Row[]>(), after: new Map<string, Row[]>() };
  #count = 0;

  constructor(private readonly pair: TablePair) {}

  *add(row: Row, side: "before" | "after"): Generator<RowChange> {
    const key = this.#keyOf(row);
    const others = this.#held[side === "before" ? "after" : "before"].get(key);
    const other = others?.pop();
    if (other !== undefined) {
      this.#count--;
      const [before, after] = side === "before" ? [row, other] : [other, row];
      if (!sameRow(before, after)) yield { kind: "changed", before, after };
      return;
    }
    if (this.#count >= MAX_HELD) return yield alone(row, side === "after");
    this.#count++;
    const rows = this.#held[side].get(key);
    if (rows) rows.push(row);
    else this.#held[side].set(key, [row]);
  }

  sameKey(a: Row, b: Row): boolean {
    return this.pair.key.length > 0 && this.pair.key.every((at) => sameValue(a[at], b[at]));
  }

  *rest(): Generator<RowChange> {
    for (const rows of this.#held.before.values()) for (const row of rows) yield alone(row, false);
    for (const rows of this.#held.after.values()) for (const row of rows) yield alone(row, true);
    this.#held.before.clear();
    this.#held.after.clear();
    this.#count = 0;
  }

  #keyOf(row: Row): string {
    const { key } = this.pair;
    return (key.length === 0 ? row : key.map((at) => row[at] ?? null)).map(textOf).join("\u0000");
  }
}

function textOf(value: EngineValue): string {
  if (value === null) return "n";
  if (value instanceof Uint8Array) return `b${value.toBase64()}`;
  return typeof value === "bigint" ? `i${value}` : typeof value === "number" ? `r${value}` : `t${value}`;
}
