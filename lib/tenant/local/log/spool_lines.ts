// The lines of the spool of log rows: each has rows of many databases by column, so that a value that all of them share
// stands there once. A line of a version before has rows of one database.
import { isId } from "../../../core/ids.ts";
import { ENDPOINT_CALL_COLUMNS, LOG_COLUMNS, type LogValue, type LogValues } from "../../log_columns.ts";
import { packLogRows } from "../frames/wire.ts";

/** Rows of one database. */
export interface SpooledRows {
  readonly databaseId: string;
  readonly namespaceId: string;
  readonly rows: readonly LogValues[];
}

/** Rows of one line at most: one that is damaged takes no more with it. */
const LINE_ROWS = 256;
/** Columns before those of the row: ids of the database and of its namespace. */
const OWN_COLUMNS = 2;
/** The place of the database's id in a row of the query log, where the line has the one before the row's columns. */
const LOG_DATABASE = 3;

/** The lines for these rows. */
export function spoolLines(entries: readonly SpooledRows[]): string {
  let lines = "";
  for (const width of [LOG_COLUMNS, ENDPOINT_CALL_COLUMNS]) {
    const rows: LogValues[] = [];
    const owners: SpooledRows[] = [];
    for (const entry of entries) {
      for (const row of entry.rows) {
        if (row.length !== width) continue;
        rows.push(row);
        owners.push(entry);
      }
    }
    for (let from = 0; from < rows.length; from += LINE_ROWS) {
      lines += lineOf(rows.slice(from, from + LINE_ROWS), owners.slice(from, from + LINE_ROWS));
    }
  }
  return lines;
}

/** The line for rows of one kind. `owners`: whose each row is. */
function lineOf(rows: readonly LogValues[], owners: readonly SpooledRows[]): string {
  const databases = columnOf(owners.map(({ databaseId }) => databaseId));
  const columns: unknown[] = [databases, columnOf(owners.map(({ namespaceId }) => namespaceId))];
  for (const [at, column] of packLogRows(rows).flatMap((table) => table.columns).entries()) {
    columns.push(at === LOG_DATABASE && isEqual(column, databases) ? [] : column);
  }
  return `${JSON.stringify({ rows: rows.length, columns })}\n`;
}

function columnOf(values: LogValue[]): Column {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : values;
}

/** The rows of a line; none of one that is not whole. */
export function readSpoolLine(line: string): SpooledRows[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return [];
  }
  if (Array.isArray(parsed)) {
    const [databaseId, namespaceId, ...rows]: unknown[] = parsed;
    return own(databaseId, namespaceId, rows.filter(isRow));
  }
  return unpacked(parsed);
}
/** Each column is looked at once, not each of its values: a start reads hundreds of thousands of rows before it answers. */
function unpacked(line: unknown): SpooledRows[] {
  if (typeof line !== "object" || line === null || !("rows" in line) || !("columns" in line)) return [];
  const { rows: count, columns } = line;
  if (typeof count !== "number" || !Array.isArray(columns) || !(count <= LINE_ROWS)) return [];
  const [databases]: unknown[] = columns;
  const whole = columns.map((column) => Array.isArray(column) && column.length === 0 ? databases : column);
  if (!isRowLength(whole.length - OWN_COLUMNS) || !whole.every((column) => isColumn(column, count))) {
    return [];
  }
  const [ids = null, namespaceIds = null, ...ofRow] = whole;
  const found: SpooledRows[] = [];
  for (let at = 0; at < count; at++) {
    const row = ofRow.map((column) => valueAt(column, at));
    found.push(...own(valueAt(ids, at), valueAt(namespaceIds, at), [row]));
  }
  return found;
}

/** The value that all rows share, or that of each. */
type Column = LogValue | LogValue[];

function isColumn(column: unknown, rows: number): column is Column {
  return isValue(column) || Array.isArray(column) && column.length === rows && column.every(isValue);
}

function valueAt(column: Column, row: number): LogValue {
  return Array.isArray(column) ? column[row] ?? null : column;
}

function own(databaseId: unknown, namespaceId: unknown, rows: readonly LogValues[]): SpooledRows[] {
  if (typeof databaseId !== "string" || !isId("db", databaseId) || typeof namespaceId !== "string") return [];
  return [{ databaseId, namespaceId, rows }];
}

function isRow(row: unknown): row is LogValues {
  return Array.isArray(row) && row.every(isValue) && isRowLength(row.length);
}

function isRowLength(length: number): boolean {
  return length === LOG_COLUMNS || length === ENDPOINT_CALL_COLUMNS;
}

function isValue(value: unknown): value is LogValue {
  return value === null || typeof value === "string" || typeof value === "number";
}

function isEqual(one: unknown, other: unknown): boolean {
  return Array.isArray(one) && Array.isArray(other) && one.every((value, at) => value === other[at]);
}
