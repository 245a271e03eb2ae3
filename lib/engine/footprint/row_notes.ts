// The triggers and queries that record changes of a table's rows. They write every value with its type, so that no two
// different rows have the same text.
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import type { ChangedRows } from "../../sql/grammar/uncounted_rows.ts";
import { MAX_DIGESTED_ROWS, type NoteKind, TIME_MARK } from "./footprint.ts";
import type { TableShape } from "./table_shape.ts";

/** Where notes go: an SQL function or a table. Values and names are SQL. */
export interface NoteSink {
  readonly temporary: boolean;
  /** Makes the statement that records a note. */
  readonly take: (parts: NoteParts) => string;
  /** SQL that digests a long blob; null where the engine has no such function. */
  readonly digest: ((blob: string) => string) | null;
}

/** The parts of a `RowNote` as SQL. */
export interface NoteParts {
  readonly table: string;
  readonly kind: NoteKind;
  readonly keyBefore?: string;
  readonly before?: string;
  readonly keyAfter?: string;
  readonly after?: string;
  /** SQL to append. */
  readonly from?: string;
}

/** The name prefix of the triggers and their helpers; tenants cannot use it. */
export const NOTE_NAME = "_service_meta_footprint";
/** The SQL function with which an engine child digests long values. */
export const NOTE_DIGEST = `${NOTE_NAME}_digest`;
/** A value of this many bytes or more is recorded as its digest, where the engine has the function. */
const LONG_BYTES = 1000;
/** Without the function a note holds the value; a value longer than this is recorded as its length and its two ends. */
const LARGE_BYTES = 400_000;
const END_BYTES = 100_000;

/** Whether no trigger can report the table's changes, so that all its rows are recorded before and after. */
export function isTakenWhole({ virtual, uniques }: TableShape): boolean {
  return virtual || uniques?.some((columns) => columns.some(({ name }) => name === null)) === true;
}

/** Names and `CREATE TRIGGER` texts for a table that is not recorded whole. `at`: the table's index. */
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

/** Makes the query that records all rows of a table. */
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

/** Makes the query that records the rows a schema change adds or removes, up to `MAX_DIGESTED_ROWS`. */
export function changedNotes(shape: TableShape, side: ChangedRows["side"], sink: NoteSink): NoteParts {
  const values = textOf(shape.columns.map(({ name }) => `o.${quoted(name)}`), sink);
  const from = ` FROM (SELECT * FROM main.${quoted(shape.name)} LIMIT ${MAX_DIGESTED_ROWS}) AS o`;
  return {
    table: shape.name,
    kind: "whole",
    from,
    // Rows are identified by their values, because the keys of a new table depend on the order of its SELECT.
    ...(side === "before" ? { keyBefore: values } : { keyAfter: "''", after: values }),
  };
}

/** The statements that create and drop a table through which the engine shows a full-text index's content. */
export function indexView(
  { name }: TableShape,
  { temporary }: NoteSink,
): { readonly make: string; readonly drop: string } {
  const view = `${temporary ? "temp" : "main"}.${NOTE_NAME}_index`;
  const of = `'${name.replaceAll("'", "''")}'`;
  const args = temporary ? `main, ${of}, instance` : `${of}, instance`;
  return { make: `CREATE VIRTUAL TABLE ${view} USING fts5vocab(${args})`, drop: `DROP TABLE ${view}` };
}

/** Makes the query that records what the index holds for each row. */
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

/** The engine reports -1 for a rowid that it has yet to assign. */
function begunNotes({ name: table, key, keyIsRowid }: TableShape): NoteParts[] {
  const [column = ""] = key;
  return keyIsRowid ? [{ table, kind: "begins", keyAfter: `NEW.${quoted(column)} = -1` }] : [];
}

/** Rows that share a unique value with the new row. */
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

/** SQL that joins all values into one text. */
function textOf(values: readonly (Value | string)[], sink: NoteSink): string {
  const texts = values.map((value) =>
    typeof value === "string" ? valueText(value, sink) : timeMarked(valueText(value.sql, sink), value.isTime)
  );
  return texts.length === 0 ? "''" : joined(texts);
}

function timeMarked(text: string, isTime: boolean): string {
  return isTime ? `('${TIME_MARK}' || ${text})` : text;
}

/** Joins in pairs of pairs, because an expression may be nested only a thousand times. */
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
