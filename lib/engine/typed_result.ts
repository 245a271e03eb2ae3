// Writes a result as libSQL's protocol has it (HRANA_3_SPEC, `StmtResult`): INTEGER and REAL apart, 64-bit integers as
// digits, blobs as base64 without padding.
import { firstWord } from "../sql/words/first_word.ts";
import type { EngineValue } from "../sql/words/sql_value.ts";
import { exceeds, type ResultBounds, ResultTooLarge } from "./result_json.ts";

/** A column's name and its declared type. */
export interface TypedColumn {
  readonly name: string;
  readonly type: string | null;
}

/** What the statement itself has changed; `rowid`: the last that the connection has added, null after a read. */
export interface OwnChanges {
  readonly changes: number;
  readonly rowid: bigint | string | null;
}

/** How a text begins that writes rows: no change of the schema does. */
const INSERTS: ReadonlySet<string> = new Set(["INSERT", "REPLACE", "WITH"]);

/**
 * Whether the engine's last changes are those of a statement that has run: a read, or a change of the schema, leaves what was
 * there. A command of a full-text table needs the level of a schema, and is counted as an INSERT.
 */
export function tellsChanges(level: string, sql: string): boolean {
  return level === "write" || (level === "schema" && INSERTS.has(firstWord(sql)));
}

/** Nothing, as of a read. */
export const noChanges: OwnChanges = { changes: 0, rowid: null };

/** `[{"name":…,"decltype":…},…]` */
export function typedColumns(columns: readonly TypedColumn[]): string {
  return JSON.stringify(columns.map(({ name, type }) => ({ name, decltype: type })));
}

/** `[[{"type":…},…],…]`. Throws `ResultTooLarge`. */
export function typedRows(
  rows: readonly (readonly EngineValue[])[],
  { maxRows, maxBytes }: ResultBounds,
): string {
  if (rows.length > maxRows) throw new ResultTooLarge(`more than ${maxRows} rows`);
  const text = `[${rows.map((row) => `[${row.map(typedValue).join(",")}]`).join(",")}]`;
  if (exceeds(text, maxBytes)) throw new ResultTooLarge(`more than ${maxBytes} bytes`);
  return text;
}

/** The result without its closing brace, so that a caller may add members of its own. */
export function typedResultJson(cols: string, rows: string, { changes, rowid }: OwnChanges): string {
  // Of a statement that has added nothing it is the rowid of another one, which may be the service's.
  const last = rowid === null || changes === 0 ? "null" : `"${rowid}"`;
  return `{"cols":${cols},"rows":${rows},"affected_row_count":${changes}${LAST_ROWID}${last}`;
}

const LAST_ROWID = ',"last_insert_rowid":';

/** The same result where the statement is no INSERT: the last rowid is then that of another one. */
export function withoutRowid(json: string): string {
  return `${json.slice(0, json.lastIndexOf(LAST_ROWID))}${LAST_ROWID}null`;
}

/** One value. JSON has no infinity: a number that every reader of doubles takes for one stands in its place. */
export function typedValue(value: EngineValue): string {
  if (value === null) return '{"type":"null"}';
  if (typeof value === "bigint") return `{"type":"integer","value":"${value}"}`;
  if (typeof value === "string") return `{"type":"text","value":${JSON.stringify(value)}}`;
  if (typeof value === "number") return `{"type":"float","value":${floatText(value)}}`;
  return `{"type":"blob","base64":"${value.toBase64({ omitPadding: true })}"}`;
}

function floatText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "1e999" : "-1e999";
}
