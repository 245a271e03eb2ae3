// Reads rows of a file exactly, one after the other, and notices when the engine stops before the last one.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { StoredValue } from "../../../sql/words/stored_text.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Encoding, exactText } from "./exact_value.ts";
import { Unreadable } from "./not_taken.ts";

/** Where rows are read from. */
export interface RowSource {
  readonly name: string;
  /** The columns to insert into, each with the expression that reads it. Generated columns are not among them. */
  readonly columns: readonly SourceColumn[];
  /** The rowid, where no column is it; null: it is a column, or cannot be read. */
  readonly rowid: SourceColumn | null;
  /** What follows FROM. */
  readonly from: string;
  /** What follows ORDER BY. */
  readonly order: string;
}

/** A column of a source. */
export interface SourceColumn {
  readonly name: string;
  /** Its name as INSERT has it. */
  readonly target: string;
  readonly select: string;
}

/** Columns whose types fit into one INTEGER. */
const MASKED = 60;
/** Operands of one expression: a longer one is deeper than the engine allows. */
const OPERANDS = 50;

/** All rows of a short answer, integers as bigint. */
export function allRows(db: DatabaseSync, sql: string, ...params: (string | bigint)[]): EngineValue[][] {
  return rowsOf(statementOf(db, sql).all(...params));
}

/** How the file encodes text. */
export function encodingOf(db: DatabaseSync): Encoding {
  const encoding = allRows(db, "PRAGMA encoding")[0]?.[0];
  return encoding === "UTF-16le" || encoding === "UTF-16be" ? encoding : "UTF-8";
}

/**
 * The rows of a table in its order: the rowid, where it is no column (`withRowid`), then the columns. Throws `Unreadable`
 * where there are more rows than can be read.
 */
export function* exactRows(
  db: DatabaseSync,
  source: RowSource,
  { withRowid, encoding }: { readonly withRowid: boolean; readonly encoding: Encoding },
): Generator<StoredValue[]> {
  const columns = [...withRowid && source.rowid ? [source.rowid] : [], ...source.columns];
  const selected = (strict: boolean, offset: number) =>
    `SELECT ${
      exactSelect(columns, strict)
    } FROM ${source.from} ORDER BY ${source.order} LIMIT -1 OFFSET ${offset}`;
  let count = 0;
  let bad = false;
  for (const row of statementOf(db, selected(false, 0)).iterate()) {
    const exact = exactRow(arrayOf(row), columns.length, encoding);
    bad = exact === null;
    if (exact === null) break;
    count++;
    yield exact;
  }
  if (bad) {
    // From this row on every text comes as its bytes.
    for (const row of statementOf(db, selected(true, count)).iterate()) {
      const exact = exactRow(arrayOf(row), columns.length, encoding);
      if (exact === null) {
        throw new Unreadable(`the table ${source.name} holds text that is not the text of its bytes`);
      }
      count++;
      yield exact;
    }
  }
  // The engine's iterator ends without an error at a row that cannot be read, so the rows are counted.
  const [total] = allRows(db, `SELECT count(*) FROM ${source.from}`)[0] ?? [];
  if (total !== BigInt(count)) {
    throw new Unreadable(`the table ${source.name} cannot be read behind row ${count}`);
  }
}

/** What `exactRow` reads. `strict`: for tables with text that is not UTF-8. */
export function exactSelect(columns: readonly SourceColumn[], strict: boolean): string {
  return [...columns.map(({ select }) => exactly(select, strict)), ...masks(columns)].join(", ");
}

/** Null: a text that came as text is not valid UTF-8, whose bytes are needed. */
export function exactRow(
  values: readonly EngineValue[],
  width: number,
  encoding: Encoding,
): StoredValue[] | null {
  const exact: StoredValue[] = new Array(width);
  for (let at = 0; at < width; at++) {
    const value = values[at] ?? null;
    if (typeof value === "string" && value.includes("\ufffd")) return null;
    exact[at] = value instanceof Uint8Array && !isBlob(values, width, at)
      ? exactText(value, encoding)
      : value;
  }
  return exact;
}

/**
 * Text with U+0000 or beyond ASCII has not as many characters as bytes, and comes as its bytes. Bytes that are no UTF-8 may
 * count as characters; they are found when they are read. `strict`: every text comes as its bytes.
 */
function exactly(select: string, strict: boolean): string {
  const odd = strict ? "" : ` AND length(CAST(${select} AS BLOB)) <> length(${select})`;
  return `CASE WHEN typeof(${select}) = 'text'${odd} THEN CAST(${select} AS BLOB) ELSE ${select} END`;
}

/** One INTEGER for each 60 columns: which of them hold a blob. */
function masks(columns: RowSource["columns"]): string[] {
  const found: string[] = [];
  for (let start = 0; start < columns.length; start += MASKED) {
    const bits = columns.slice(start, start + MASKED).map(({ select }, at) =>
      `((typeof(${select}) = 'blob') << ${at})`
    );
    const halves = [bits.slice(0, OPERANDS), bits.slice(OPERANDS)].filter(({ length }) => length > 0);
    found.push(halves.map((some) => `(${some.join(" | ")})`).join(" | "));
  }
  return found;
}

function isBlob(values: readonly EngineValue[], width: number, at: number): boolean {
  const mask = values[width + Math.floor(at / MASKED)];
  return typeof mask === "bigint" && (mask >> BigInt(at % MASKED) & 1n) === 1n;
}

function statementOf(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  return statement;
}

/** Guarantee: with `setReturnArrays(true)` each row is an array of engine values; the declared type does not say so. */
function rowsOf(rows: readonly unknown[]): EngineValue[][] {
  return rows.map(arrayOf);
}

/** Guarantee: as `rowsOf`. */
function arrayOf(row: unknown): EngineValue[] {
  return row as EngineValue[];
}
