// Writes one table as CSV (RFC 4180) or as NDJSON, a line for each row.
import type { DatabaseSync } from "node:sqlite";
import { csvText, isFormula } from "../../../core/csv_text.ts";
import { integerJson, PLAIN_ROWS, realJson } from "../../../sql/words/row_form.ts";
import { exactRows } from "./engine_rows.ts";
import { OddText, type StoredValue } from "../../../sql/words/stored_text.ts";
import type { FilePlan } from "./file_plan.ts";
import type { TableSource } from "./table_source.ts";
import type { TextOut } from "./text_out.ts";

/** How the rows are written. `safe`: no cell of CSV is a formula for a spreadsheet. */
export interface RowsFormat {
  readonly format: "csv" | "ndjson";
  readonly safe: boolean;
}

/** Writes all rows and counts them. */
export function* writeRows(
  { db, plan, out }: { readonly db: DatabaseSync; readonly plan: FilePlan; readonly out: TextOut },
  source: TableSource,
  { format, safe }: RowsFormat,
): Generator<number> {
  const names = source.columns.map(({ name }) => name);
  if (format === "csv") out.text(`${names.map((name) => csvText(name, { safe })).join(",")}\r\n`);
  const keys = names.map((name, at) => `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  let count = 0;
  for (const row of exactRows(db, source, { withRowid: false, encoding: plan.encoding })) {
    if (format === "csv") writeCsv(out, row, safe);
    else out.text(jsonLine(keys, row));
    count++;
    if (count % 1000 === 0) yield count;
  }
  yield count;
}

function writeCsv(out: TextOut, row: readonly StoredValue[], safe: boolean): void {
  let line = "";
  for (let at = 0; at < row.length; at++) {
    const value = row[at] ?? null;
    if (at > 0) line += ",";
    if (!(value instanceof OddText)) line += csvCell(value, safe);
    else {
      out.text(`${line}"${safe && isFormula(value.shown) ? "'" : ""}`);
      out.bytes(quotesDoubled(value.bytes));
      line = '"';
    }
  }
  out.text(`${line}\r\n`);
}

function csvCell(value: Exclude<StoredValue, OddText>, safe: boolean): string {
  if (value === null) return "";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return realText(value);
  return typeof value === "string" ? csvText(value, { safe }) : value.length === 0 ? '""' : value.toBase64();
}

/** A REAL is told from an INTEGER by its point. An infinite one is a number beyond all others, as no word is a number. */
function realText(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "1e999" : "-1e999";
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
}

function quotesDoubled(bytes: Uint8Array): Uint8Array {
  const doubled: number[] = [];
  for (const byte of bytes) doubled.push(...byte === 0x22 ? [byte, byte] : [byte]);
  return Uint8Array.from(doubled);
}

function jsonLine(keys: readonly string[], row: readonly StoredValue[]): string {
  let line = "";
  for (let at = 0; at < row.length; at++) line += `${keys[at]}${JSON.stringify(jsonValue(row[at] ?? null))}`;
  return `${line}}\n`;
}

/** As answers of `/query` have it. */
function jsonValue(value: StoredValue): unknown {
  if (typeof value === "bigint") return integerJson(value, PLAIN_ROWS);
  if (typeof value === "number") return realJson(value);
  if (value instanceof Uint8Array) return { $blob: value.toBase64() };
  return value instanceof OddText ? value.shown : value;
}
