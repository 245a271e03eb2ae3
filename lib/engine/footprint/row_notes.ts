// The triggers that take down changes of a table's rows, and the texts in which they do: every value with its type, so
// that no two rows have the same.
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import type { ChangedRows } from "../../sql/schema_rows.ts";
import { MAX_DIGESTED_ROWS } from "./footprint.ts";
import { type NoteKind, TIME_MARK } from "./row_note.ts";
import type { TableShape } from "./table_shape.ts";

/** Where notes go: an engine's own function, or a table. Values and names are SQL. */
export interface NoteSink {
  readonly temporary: boolean;
  /** One statement that takes a note down. */
  readonly take: (parts: NoteParts) => string;
  /** SQL of a digest of a long blob; null: the engine has none. */
  readonly digest: ((blob: string) => string) | null;
}

/** SQL of the parts of a `RowNote`. */
export interface NoteParts {
  readonly table: string;
  readonly kind: NoteKind;
  readonly keyBefore?: string;
  readonly before?: string;
  readonly keyAfter?: string;
  readonly after?: string;
  /** Further SQL behind it. */
  readonly from?: string;
}

/** Of triggers and of what they need; tenants cannot have it. */
export const NOTE_NAME = "_service_meta_footprint";
/** The function by which an engine child makes digests of long values. */
export const NOTE_DIGEST = `${NOTE_NAME}_digest`;
/** Bytes from which on a value is told by its digest, where the engine has one. */
const LONG_BYTES = 1000;
/** Where it has none a note holds the value, and may be no larger than one: of a large value its length and its two ends. */
const LARGE_BYTES = 400_000;
const END_BYTES = 100_000;

/** True for tables whose changes no trigger tells: all of their rows are taken down before and after. */
export function isTakenWhole({ virtual, uniques }: TableShape): boolean {
  return virtual || uniques?.some((columns) => columns.some(({ name }) => name === null)) === true;
}

/** `CREATE TRIGGER` texts for a table that is not taken whole, and their names. `at`: its place among the tables. */
export function noteTriggers(
  shape: TableShape,
  at: number,
  sink: NoteSink,
): { readonly name: string; readonly sql: string }[] {
  const key = (row: string) => textOf(keyValues(shape, row), sink);
  const rest = (row: string) => textOf(otherValues(shape, row), sink);
  const [table, unset] = [shape.name, "''"];
  const make = (event: string, takes: readonly NoteParts[]) => {
    const name = `${NOTE_NAME}_${at}_${event.replaceAll(" ", "_").toLowerCase()}`;
    const body = takes.map((parts) => `${sink.take(parts)}; `).join("");
    const kind = sink.temporary ? "TEMP TRIGGER" : "TRIGGER";
    return { name, sql: `CREATE ${kind} ${name} ${event} ON main.${quoted(table)} BEGIN ${body}END` };
  };
  const begins = begunNotes(shape);
  const replaced = replacedNote(shape, sink);
  return [
    ...(begins.length + replaced.length > 0 ? [make("BEFORE INSERT", [...begins, ...replaced])] : []),
    make("AFTER INSERT", [{
      table,
      kind: "insert",
      after: rest("NEW"),
      keyAfter: shape.key.length > 0 ? key("NEW") : unset,
    }]),
    ...(replaced.length > 0 ? [make("BEFORE UPDATE", replaced)] : []),
    make("AFTER UPDATE", [{
      table,
      kind: "update",
      keyBefore: key("OLD"),
      before: rest("OLD"),
      keyAfter: key("NEW"),
      after: rest("NEW"),
    }]),
    make("AFTER DELETE", [{ table, kind: "delete", keyBefore: key("OLD"), before: rest("OLD") }]),
  ];
}

/** A query that takes down all rows of a table. */
export function wholeNotes(shape: TableShape, side: "before" | "after", sink: NoteSink): NoteParts {
  const key = textOf(shape.rowid === null ? [] : [`o.${shape.rowid}`], sink);
  const values = textOf(shape.columns.map(({ name }) => `o.${quoted(name)}`), sink);
  return {
    table: shape.name,
    kind: "whole",
    from: ` FROM main.${quoted(shape.name)} AS o`,
    ...(side === "before" ? { keyBefore: key, before: values } : { keyAfter: key, after: values }),
  };
}

/** A query that takes down the rows that a change of the schema makes or removes, up to as many as are digested. */
export function changedNotes(shape: TableShape, side: ChangedRows["side"], sink: NoteSink): NoteParts {
  const values = textOf(shape.columns.map(({ name }) => `o.${quoted(name)}`), sink);
  const from = ` FROM (SELECT * FROM main.${quoted(shape.name)} LIMIT ${MAX_DIGESTED_ROWS}) AS o`;
  return {
    table: shape.name,
    kind: "whole",
    from,
    // Known by their values: the keys of a table that is made are in the order of its SELECT.
    ...(side === "before" ? { keyBefore: values } : { keyAfter: "''", after: values }),
  };
}

/** A table through which the engine shows what a full-text index holds, and what takes it away. */
export function indexView(
  { name }: TableShape,
  { temporary }: NoteSink,
): { readonly make: string; readonly drop: string } {
  const view = `${temporary ? "temp" : "main"}.${NOTE_NAME}_index`;
  const of = `'${name.replaceAll("'", "''")}'`;
  const args = temporary ? `main, ${of}, instance` : `${of}, instance`;
  return { make: `CREATE VIRTUAL TABLE ${view} USING fts5vocab(${args})`, drop: `DROP TABLE ${view}` };
}

/** A query that takes down what the index holds of each row. */
export function indexNotes({ name }: TableShape, side: "before" | "after", sink: NoteSink): NoteParts {
  const key = "'index ' || doc";
  const view = `${sink.temporary ? "temp" : "main"}.${NOTE_NAME}_index`;
  const from =
    " FROM (SELECT doc, group_concat(hex(term) || ' ' || quote(col) || ' ' || quote(offset)) AS terms " +
    `FROM (SELECT doc, term, col, offset FROM ${view} ORDER BY doc, term, col, offset) GROUP BY doc)`;
  return {
    table: name,
    kind: "whole",
    from,
    ...(side === "before" ? { keyBefore: key, before: "terms" } : { keyAfter: key, after: "terms" }),
  };
}

/** The engine has -1 for a rowid that is still to be made. */
function begunNotes({ name: table, key, keyIsRowid }: TableShape): NoteParts[] {
  const [column = ""] = key;
  return keyIsRowid ? [{ table, kind: "begins", keyAfter: `NEW.${quoted(column)} = -1` }] : [];
}

/** Rows that have a value which the new one has as well and only one may have. */
function replacedNote(shape: TableShape, sink: NoteSink): NoteParts[] {
  const { name: table, uniques, key, keyIsRowid } = shape;
  if (uniques === null || (uniques.length === 0 && !keyIsRowid)) return [];
  const same = (name: string, collation: string) =>
    `o.${quoted(name)} = NEW.${quoted(name)} COLLATE ${quoted(collation)}`;
  const keys = [
    ...(keyIsRowid ? [key.map((name) => same(name, "BINARY"))] : []),
    ...uniques.map((columns) => columns.map(({ name, collation }) => same(name ?? "", collation))),
  ];
  return [{
    table,
    kind: "replaced",
    keyBefore: textOf(keyValues(shape, "o"), sink),
    before: textOf(otherValues(shape, "o"), sink),
    from: ` FROM main.${quoted(table)} AS o WHERE ${
      keys.map((one) => `(${one.join(" AND ")})`).join(" OR ")
    }`,
  }];
}

interface Value {
  readonly sql: string;
  readonly isTime: boolean;
}

function keyValues({ key, rowid, columns }: TableShape, row: string): Value[] {
  const names = key.length > 0
    ? key.map(quoted)
    : rowid === null
    ? columns.map(({ name }) => quoted(name))
    : [rowid];
  return names.map((name) => ({ sql: `${row}.${name}`, isTime: false }));
}

function otherValues({ key, columns }: TableShape, row: string): Value[] {
  return columns.filter(({ name }) => !key.includes(name)).map(({ name, isTime }) => ({
    sql: `${row}.${quoted(name)}`,
    isTime,
  }));
}

/** One text of all values. */
function textOf(values: readonly (Value | string)[], sink: NoteSink): string {
  const texts = values.map((value) =>
    typeof value === "string" ? valueText(value, sink) : timeMarked(valueText(value.sql, sink), value.isTime)
  );
  return texts.length === 0 ? "''" : joined(texts);
}

function timeMarked(text: string, isTime: boolean): string {
  return isTime ? `('${TIME_MARK}' || ${text})` : text;
}

/** In pairs of pairs: an expression may be nested a thousand times only. */
function joined(texts: readonly string[]): string {
  const [first = "''"] = texts;
  if (texts.length <= 1) return first;
  const middle = texts.length >> 1;
  return `(${joined(texts.slice(0, middle))} || ${joined(texts.slice(middle))})`;
}

function valueText(value: string, { digest }: NoteSink): string {
  const whole = `hex(${value})`;
  const blob = `CAST(${value} AS BLOB)`;
  const bytes = digest === null
    ? `CASE WHEN length(${blob}) > ${LARGE_BYTES} THEN '#' || length(${blob}) || '.' || ` +
      `hex(substr(${blob}, 1, ${END_BYTES})) || hex(substr(${blob}, -${END_BYTES})) ELSE ${whole} END`
    : `CASE WHEN length(${blob}) > ${LONG_BYTES} THEN '#' || ${digest(blob)} ELSE ${whole} END`;
  return `(CASE typeof(${value}) WHEN 'text' THEN 't' || ${bytes} WHEN 'blob' THEN 'b' || ${bytes} ` +
    `ELSE quote(${value}) END || ',')`;
}
