// The hint for an unknown table or column.
import { sameName } from "../words/names.ts";
import { nearMatches } from "./hints.ts";
import { type KnownTables, listed } from "./known_tables.ts";
import type { CalledTable, StatementNames } from "../grammar/statement_names.ts";

/** An unknown name, and what is known about its statement. */
export interface UnknownName {
  /** Spelled as in the schema, where it exists. */
  readonly table: string | null;
  /** Null where the table is unknown. */
  readonly column: string | null;
  /** The qualifier before the column; null where there is none. */
  readonly qualifier: string | null;
}

/** The text of the statement. */
interface NamingText {
  /** Empty where there is none. */
  readonly sql: string;
  /** Null where they are not known. */
  readonly names: StatementNames | null;
}

/** The most tables that a hint names. */
const MAX_NAMED = 3;

/** What to check and what may have been meant, but never the name that failed. */
export function unknownNameHint(name: UnknownName, text: NamingText, known: KnownTables): string {
  const { table, column, qualifier } = name;
  const { sql } = text;
  const failed = column ?? table;
  if ([qualifier, failed].some((one) => one !== null && !isWritten(sql, one))) {
    return `Mend the view, trigger or foreign key that names ${failed}: the statement itself does not`;
  }
  const { called, starred } = text.names ?? { called: [], starred: [] };
  if (column === null) {
    return table !== null && starred.some((one) => sameName(one, table))
      ? qualifierHint(table, null, called, known)
      : tableHint(table, known);
  }
  if (qualifier === null) {
    // The engine takes a text in double quotes for a name.
    const lead = sql.includes(`"${column}"`) ? "Write text in single quotes, or check" : "Check";
    return columnHint(lead, column, known, namedTables(table, called, known));
  }
  // The qualifier is unknown too.
  if (text.names === null) return columnHint("Check", column, known, namedTables(table, called, known));
  const own = called.find((one) => sameName(one.name, qualifier));
  if (!own || hasColumn(own, column, known)) return qualifierHint(qualifier, column, called, known);
  return own.table === null
    ? `Check the name of ${column} among the columns of ${qualifier}`
    : columnHint("Check", column, known, namedTables(own.table, called, known));
}

function tableHint(table: string | null, known: KnownTables): string {
  const near = table === null ? [] : nearMatches(table, known.map(({ name }) => name));
  const hint = `Check the name of ${table ?? "the table"}`;
  if (near.length > 0) return `${hint}; tables lists what there is${didYouMean(near)}`;
  const all = listed(known.map(({ name }) => name));
  return `${hint}: ${all === "" ? "the database has no tables yet" : `there is ${all}`}`;
}

/**
 * `column` is null for `.*`. When the statement gives this name to a table elsewhere, it is not known which tables
 * can be named here.
 */
function qualifierHint(
  qualifier: string,
  column: string | null,
  called: readonly CalledTable[],
  known: KnownTables,
): string {
  const others = called.some(({ name }) => sameName(name, qualifier)) ? [] : called;
  const having = column === null
    ? others
    : others.filter((one) => one.table === null || hasColumn(one, column, known));
  const reason = `${qualifier} stands for no table there`;
  if (having.length > 0) return `Write ${names(having, "or")} before ${column ?? "the *"}: ${reason}`;
  const has = others.length > 0 ? `; the statement has ${names(others, "and")}` : "";
  return `Check ${qualifier} before ${column ?? "the *"}: ${reason}${has}`;
}

/** `own` is the table that should have the column. */
function columnHint(lead: string, column: string, known: KnownTables, own: KnownTables): string {
  const candidates = own.flatMap(({ columns }) => columns).filter((one) => !sameName(one, column));
  const near = nearMatches(column, candidates);
  const hint = `${lead} the name of ${column}; describe lists the columns`;
  if (near.length > 0) return `${hint}${didYouMean(near)}`;
  const having = known.filter(({ columns }) => columns.some((one) => sameName(one, column)));
  if (having.length === 0) return own.length === 0 ? hint : `${hint}: ${columnsOf(own)}`;
  return `${hint}; ${names(having, "and")} ${having.length > 1 ? "have" : "has"} a column of that name`;
}

/** `a has b, c; d has e`. */
function columnsOf(tables: KnownTables): string {
  return tables.slice(0, MAX_NAMED).map(({ name, columns }) => `${name} has ${listed(columns)}`).join("; ");
}

/** The table that is meant, or all tables of the statement. */
function namedTables(
  table: string | null,
  called: readonly CalledTable[],
  known: KnownTables,
): KnownTables {
  const wanted = called.length === 0 || known.some(({ name }) => table !== null && sameName(name, table))
    ? [table]
    : called.map((one) => one.table);
  return known.filter(({ name }) => wanted.some((one) => one !== null && sameName(one, name)));
}

function hasColumn({ table }: CalledTable, column: string, known: KnownTables): boolean {
  return known.some(({ name, columns }) =>
    table !== null && sameName(name, table) && columns.some((one) => sameName(one, column))
  );
}

/** Views, triggers and foreign keys bring names of their own. The spelling of a name with quotes in it is not known. */
function isWritten(sql: string, name: string): boolean {
  return sql === "" || /["'`\]]/.test(name) || sql.toLowerCase().includes(name.toLowerCase());
}

function names(all: readonly { readonly name: string }[], last: "and" | "or"): string {
  const distinct = [...new Set(all.map(({ name }) => name))].slice(0, MAX_NAMED);
  return distinct.join(` ${last} `);
}

function didYouMean(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
}
