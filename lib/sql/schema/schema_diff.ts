// Finds the statements that turn one schema into another. Pure: whoever uses them tries them on an empty database
// first, because renames can only be guessed.
import { foldName, sameName } from "../words/names.ts";
import { quoteIdentifier as quoted } from "../words/quote.ts";
import {
  type ColumnShape,
  objectKey,
  objectsByKey,
  type SchemaObject,
  type SchemaShape,
} from "./schema_shape.ts";
import { columnsOf, isVirtual, type KnownRenames, tableLineage, tablesOf } from "./table_lineage.ts";

/** Renames, which run before anything else is compared: the engine rewrites references to the names. */
export function schemaRenames(from: SchemaShape, to: SchemaShape, known: KnownRenames): string[] {
  return [...tableLineage(from, to, known).values()].flatMap(({ before, after, columns }) => {
    const table = quoted(before.name);
    const renamed = [...columns].filter(([newer, older]) => !sameName(newer, older)).map(([newer, older]) =>
      `ALTER TABLE ${table} RENAME COLUMN ${quoted(older)} TO ${quoted(newer)}`
    );
    return sameName(before.name, after.name)
      ? renamed
      : [...renamed, `ALTER TABLE ${table} RENAME TO ${quoted(after.name)}`];
  });
}

/** All changes except renames. Tables that cannot be altered are rebuilt around their rows. */
export function schemaChanges(from: SchemaShape, to: SchemaShape): string[] {
  const wanted = objectsByKey(to);
  const changed = changedTables(from, to);
  const rebuilt = changed.flatMap((one) => one.added === null ? [one.before] : []);
  const gone = [...tablesOf(from)].filter(([key]) => !wanted.has(`table ${key}`)).map(([, table]) => table);
  const emptied = new Set([...rebuilt, ...gone].map(({ name }) => foldName(name)));
  /** Whether an object stays: it is wanted with this text, and no table that is rebuilt requires it to go. */
  const stays = (one: SchemaObject): boolean => {
    if (wanted.get(objectKey(one))?.sql !== one.sql) return false;
    if (one.type === "index") return !emptied.has(foldName(one.table));
    return rebuilt.length === 0;
  };
  const parts = from.objects.filter((one) => one.type !== "table" && !stays(one));
  const staying = new Set(from.objects.filter((one) => one.type !== "table" && stays(one)).map(objectKey));
  const known = tablesOf(from);
  const made = to.objects.filter((one) =>
    one.type === "table" ? !known.has(foldName(one.name)) : !staying.has(objectKey(one))
  );
  const taken = new Set([from, to].flatMap(({ objects }) => objects.map(({ name }) => foldName(name))));
  const ofType = (type: SchemaObject["type"]) =>
    made.filter((one) => one.type === type).map(({ sql }) => sql);
  return [
    ...(emptied.size > 0 ? ["PRAGMA foreign_keys = OFF"] : []),
    ...["trigger", "view", "index"].flatMap((type) =>
      parts.filter((one) => one.type === type && !goesWithItsTable(one, emptied)).map(dropOf)
    ),
    ...gone.map(dropOf),
    ...changed.flatMap((one) => one.added === null ? rebuild(from, to, one, taken) : one.added),
    ...ofType("table"),
    ...ofType("index"),
    ...ofType("view"),
    ...ofType("trigger"),
    ...(from.userVersion === to.userVersion ? [] : [`PRAGMA user_version = ${to.userVersion}`]),
  ];
}

interface ChangedTable {
  readonly before: SchemaObject;
  readonly after: SchemaObject;
  /** How to alter a table; null where it must be rebuilt. */
  readonly added: readonly string[] | null;
}

function changedTables(from: SchemaShape, to: SchemaShape): ChangedTable[] {
  const after = tablesOf(to);
  return [...tablesOf(from)].flatMap(([key, before]) => {
    const table = after.get(key);
    if (table === undefined || table.sql === before.sql) return [];
    return [{ before, after: table, added: additions(from, to, before, table) }];
  });
}

function additions(
  from: SchemaShape,
  to: SchemaShape,
  before: SchemaObject,
  after: SchemaObject,
): readonly string[] | null {
  const old = columnsOf(from, before);
  const present = columnsOf(to, after);
  if (isVirtual(before) || old.some((column, at) => column.name !== present[at]?.name)) return null;
  const definitions = addedColumns(before.sql, after.sql, present.length - old.length);
  return definitions?.map((one) => `ALTER TABLE ${quoted(before.name)} ADD COLUMN ${one}`) ?? null;
}

/** Whether the rows of a table survive when it becomes the other one. */
export function rowsCarried(
  from: SchemaShape,
  to: SchemaShape,
  before: SchemaObject,
  after: SchemaObject,
): boolean {
  return additions(from, to, before, after) !== null || carriedColumns(from, to, before, after).length > 0;
}

/** Columns whose values a rebuilt table keeps. */
function carriedColumns(
  from: SchemaShape,
  to: SchemaShape,
  before: SchemaObject,
  after: SchemaObject,
): ColumnShape[] {
  if (isVirtual(before) || isVirtual(after)) return [];
  const known = new Set(stored(to, after).map(({ name }) => foldName(name)));
  return stored(from, before).filter(({ name }) => known.has(foldName(name)));
}

/** Meanwhile the rows are in a table without constraints, so that the new table has exactly the wanted text. */
function rebuild(
  from: SchemaShape,
  to: SchemaShape,
  { before, after }: ChangedTable,
  taken: ReadonlySet<string>,
): string[] {
  const list = carriedColumns(from, to, before, after).map(({ name }) => quoted(name)).join(", ");
  if (list === "") return [dropOf(before), after.sql];
  const aside = quoted(freeName(`_rebuild_${before.name}`, taken));
  return [
    `CREATE TABLE ${aside} AS SELECT ${list} FROM ${quoted(before.name)}`,
    dropOf(before),
    after.sql,
    `INSERT INTO ${quoted(after.name)} (${list}) SELECT ${list} FROM ${aside}`,
    `DROP TABLE ${aside}`,
  ];
}

function stored(shape: SchemaShape, table: SchemaObject): ColumnShape[] {
  return columnsOf(shape, table).filter(({ hidden }) => hidden === 0);
}

function dropOf({ type, name }: SchemaObject): string {
  return `DROP ${type.toUpperCase()} ${quoted(name)}`;
}

/** Triggers are dropped first: one on another table may refer to this table. */
function goesWithItsTable(one: SchemaObject, emptied: ReadonlySet<string>): boolean {
  return one.type === "index" && emptied.has(foldName(one.table));
}

/** `taken`: folded. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let n = 2; taken.has(foldName(name)); n++) name = `${wanted}_${n}`;
  return name;
}

/** Definitions that ADD COLUMN refuses, or takes only into an empty table. */
const NOT_ADDABLE = /\b(primary|unique|stored|references|check|current_\w+)\b|default\s*\(|--|\/\*/i;

/**
 * Finds the columns that ALTER TABLE … ADD COLUMN has added to a table, from the texts before and after. The
 * definitions in order. Null when the text has changed in another way, or when one of them cannot be added to a table
 * with rows. `count` is how many columns were added.
 */
function addedColumns(before: string, after: string, count: number): readonly string[] | null {
  const inserted = insertedText(before, after);
  if (inserted === null || count < 1) return null;
  const pieces = splitDefinitions(inserted.slice(1));
  if (pieces.length !== count || pieces.some((piece) => piece === "" || !isAddable(piece))) return null;
  return pieces;
}

/** The run of text that begins with a comma and turns `before` into `after`, or null. */
function insertedText(before: string, after: string): string | null {
  const length = after.length - before.length;
  if (length < 2) return null;
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  if (before.slice(start) !== after.slice(start + length)) return null;
  // Other runs give the same result: `a, b` + `, c` and `a` + `, b`. ADD COLUMN writes the comma first.
  while (start > 0 && after[start] !== "," && after[start - 1] === after[start - 1 + length]) start--;
  return after[start] === "," ? after.slice(start, start + length) : null;
}

function isAddable(definition: string): boolean {
  if (NOT_ADDABLE.test(definition)) return false;
  return !/\bnot\s+null\b/i.test(definition) || /\bdefault\s+(?!null\b)/i.test(definition);
}

/** Splits at commas outside brackets and quotes. */
function splitDefinitions(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if ("'\"`".includes(letter)) quote = letter;
    else if (letter === "[") quote = "]";
    else if (letter === "(") depth++;
    else if (letter === ")") depth--;
    else if (letter === "," && depth === 0) {
      pieces.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start).trim()];
}
