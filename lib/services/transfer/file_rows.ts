// The rows of a CSV or NDJSON file as values for the columns of a table.
import { importLimits } from "../../core/limits_of_transfers.ts";
import { foldName, sameName } from "../../sql/words/names.ts";
import { type Affinity, affinityOf, isBase64, type SqlParameter } from "../../sql/words/sql_value.ts";
import type { ColumnDefinition, TableDefinition } from "../schema/read_table.ts";
import { refused } from "./check_item.ts";
import { CsvReader, type CsvRecord } from "./csv_rows.ts";
import { bytesIn, infinities, jsonValue, objectOf } from "./json_lines.ts";

/** A row of the file. */
export interface FileRow {
  /** The columns that it has values for; rows of one shape share the list. */
  readonly columns: readonly string[];
  readonly values: readonly SqlParameter[];
  readonly line: number;
}

/** Reads rows of what has come so far. `last`: nothing more comes. Errors: `import_refused`. */
export type RowsReader = (text: string, last: boolean) => Generator<FileRow>;

const NULL_CELL: CsvRecord["cells"] = [null];

/** For CSV: the first record names the columns. A line without anything is no row, where a row has several cells. */
export function csvRows(table: TableDefinition): RowsReader {
  const reader = new CsvReader();
  const find = columnsOf(table);
  let header: (CsvColumn | null)[] | null = null;
  let columns: string[] = [];
  return function* (text, last) {
    for (const { cells: found, line } of reader.take(text, last)) {
      // Of a file with one column it is a row whose cell is NULL, as an export writes it.
      const cells = found.length === 0 && header?.length === 1 ? NULL_CELL : found;
      if (cells.length === 0) continue;
      if (header === null) {
        requireCommas(cells, table, line);
        header = cells.map((name, at) => csvColumn(find(name ?? "", `line ${line}, cell ${at + 1}`), table));
        columns = header.flatMap((column) => column === null ? [] : [column.name]);
        requireDistinct(columns, `line ${line}`);
        continue;
      }
      if (cells.length !== header.length) {
        throw refused(
          `${header.length} cells are expected, as the header has; these are ${cells.length}`,
          `line ${line}`,
        );
      }
      const values: SqlParameter[] = [];
      for (let at = 0; at < header.length; at++) {
        const column = header[at] ?? null;
        if (column !== null) values.push(cellValue(cells[at] ?? null, column, line));
      }
      yield { columns, values, line };
    }
    if (last && header === null) throw refused("the first line has to name the columns", "line 1");
  };
}

/** For NDJSON: an object in each line; what it leaves out gets the column's default. */
export function jsonRows(table: TableDefinition): RowsReader {
  const find = columnsOf(table);
  let rest = "";
  let line = 0;
  let names: readonly string[] = [];
  let known: readonly (ColumnDefinition | null)[] = [];
  let columns: readonly string[] = [];
  return function* (text, last) {
    rest += text;
    // A long row is looked through once, when its end has come.
    const lines = last || text.includes("\n") ? rest.split("\n") : [rest];
    rest = last ? "" : lines.pop() ?? "";
    if (rest.length > importLimits.rowBytes) throw refused("the row is too long", `line ${line + 1}`);
    for (const json of lines) {
      line++;
      if (json.trim() === "") continue;
      const object = objectOf(json, line);
      const keys = Object.keys(object);
      if (keys.length !== names.length || keys.length === 0 || keys.some((name, at) => name !== names[at])) {
        names = keys;
        known = keys.map((name) => find(name, `line ${line}`));
        columns = known.flatMap((column) => column === null ? [] : [column.name]);
        requireDistinct(columns, `line ${line}`);
      }
      const values: SqlParameter[] = [];
      for (const [at, name] of keys.entries()) {
        const column = known[at];
        if (column) values.push(jsonValue(Reflect.get(object, name), column, line));
      }
      yield { columns, values, line };
    }
  };
}

/** Spreadsheets of many countries write other marks, and one cell that no column is named by says nothing of that. */
function requireCommas(
  [only, ...others]: CsvRecord["cells"],
  { columns }: TableDefinition,
  line: number,
): void {
  const [mark] = /[;\t|]/.exec(only ?? "") ?? [];
  if (
    mark === undefined || others.length > 0 ||
    columns.some(({ name }) => sameName(name, only ?? ""))
  ) {
    return;
  }
  const marks = mark === "\t" ? "tabs" : `"${mark}"`;
  throw refused(
    `the cells are divided by ${marks}; divide them by commas, and put quotes around a cell that has one`,
    `line ${line}`,
  );
}

/** Finds a column by its name; null for a generated one, which an export of others may have. Errors: `import_refused`. */
function columnsOf({ name, columns }: TableDefinition) {
  // A stranger's file names as many as it likes, so that looking through all columns for each would take seconds.
  const byName = new Map(columns.map((column) => [foldName(column.name), column]));
  return (wanted: string, at: string): ColumnDefinition | null => {
    const found = byName.get(foldName(wanted));
    if (found === undefined) {
      throw refused(`the table ${name} has no column ${JSON.stringify(wanted.slice(0, 100))}`, at);
    }
    return found.generated ? null : found;
  };
}

function requireDistinct(columns: readonly string[], at: string): void {
  if (new Set(columns).size < columns.length) throw refused("a column is named twice", at);
  if (columns.length === 0) throw refused("there is no column to write", at);
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Words for true and false, as PostgreSQL and spreadsheets write them too. */
const TRUTHS: ReadonlyMap<string, number> = new Map([["true", 1], ["t", 1], ["false", 0], ["f", 0]]);

/** A column, and what its cells become; `any`: the text as it is. */
interface CsvColumn {
  readonly name: string;
  readonly takes: Affinity | "any" | "BOOLEAN";
}

function csvColumn(column: ColumnDefinition | null, { strict }: TableDefinition): CsvColumn | null {
  if (column === null) return null;
  const { name, declaredType } = column;
  if (declaredType === "" || strict && /^ANY$/i.test(declaredType)) return { name, takes: "any" };
  return { name, takes: /^BOOL(EAN)?\b/i.test(declaredType) ? "BOOLEAN" : affinityOf(declaredType) };
}

/** By the declared type of the column, as the engine would convert it; what a number should be has to be one. */
function cellValue(text: string | null, { name, takes }: CsvColumn, line: number): SqlParameter {
  if (text === null || takes === "TEXT" || takes === "any") return text;
  const wrong = (wanted: string) => refused(`${wanted} is expected`, `line ${line}, column ${name}`);
  if (takes === "BLOB") {
    const bytes = bytesIn(text);
    if (bytes !== null) return bytes;
    if (!isBase64(text)) throw wrong("base64, or \\x and hexadecimal digits,");
    return { $blob: text };
  }
  const truth = takes === "BOOLEAN" ? TRUTHS.get(text.toLowerCase()) : undefined;
  if (truth !== undefined) return truth;
  if (takes !== "REAL" && /^[+-]?\d+$/.test(text)) return integer(text) ?? text;
  // What is beyond every REAL has no form as a number; the engine makes an infinite one of its text.
  if (NUMBER.test(text)) return Number.isFinite(Number(text)) ? { $real: Number(text) } : text;
  if (takes === "NUMERIC" || takes === "BOOLEAN") return text;
  const infinite = takes === "REAL" ? infinities.get(text) : undefined;
  if (infinite !== undefined) return infinite;
  throw wrong(takes === "INTEGER" ? "an integer" : "a number");
}

/** Null where it has more than 64 bits. */
function integer(text: string): SqlParameter {
  // Fifteen digits are exact as a number.
  if (text.length <= 15) return Number(text);
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value) return null;
  return Number.isSafeInteger(Number(value)) ? Number(value) : { $integer: String(value) };
}
