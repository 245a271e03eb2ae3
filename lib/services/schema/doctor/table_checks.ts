// Checks of tables, columns and indexes.
import { beginning } from "../../../core/plain_text.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier } from "../../../sql/words/quote.ts";
import type { ColumnFacts, TableFacts } from "../schema_facts.ts";
import type { IndexFacts } from "../read_indexes.ts";
import { readableWords } from "../search_words.ts";
import type { Examined, Found } from "./examined.ts";
import {
  isMixed,
  newKey,
  newTypes,
  rebuildCall,
  textOf,
  textTypes,
  unnumberedKey,
} from "./new_definition.ts";
import { hasRowIdColumn } from "./rebuild_table.ts";
import { batchCall, columnNames, databaseCall, freeName } from "./suggestions.ts";

/** Tables without a primary key: their rows cannot be addressed. */
export function* missingPk(examined: Examined): Generator<Found> {
  for (const table of examined.schema.tables) {
    const key = table.kind === "table" ? newKey(examined, table) : null;
    const suggestion = key === null ? null : rebuildCall(examined, table);
    if (key === null || suggestion === null) continue;
    const change = "added" in key
      ? `add the column ${key.added}`
      : `make ${key.columns.join(", ")} the key, which is unique already`;
    yield {
      table: table.name,
      column: null,
      message: `Give the table ${table.name} a primary key: ${change}`,
      suggestion,
    };
  }
}

/** Keys of whole numbers that are NULL where an INSERT leaves them out. */
export function* findUnnumberedKeys(examined: Examined): Generator<Found> {
  for (const table of examined.schema.tables) {
    const key = unnumberedKey(examined, table);
    const suggestion = key === null ? null : rebuildCall(examined, table);
    if (key === null || suggestion === null) continue;
    yield {
      table: table.name,
      column: key.name,
      message:
        `Declare ${key.name} of ${table.name} as INTEGER PRIMARY KEY: it stays NULL where an INSERT leaves it out`,
      suggestion,
    };
  }
}

/** Columns without a declared type: nothing says what they hold, and the engine converts nothing. */
export function* untypedColumn(examined: Examined): Generator<Found> {
  for (const table of examined.schema.tables) {
    const types = table.kind === "table" ? newTypes(examined, table) : new Map<string, string>();
    const suggestion = types.size === 0 ? null : rebuildCall(examined, table);
    if (suggestion === null) continue;
    for (const { name } of table.columns.filter(({ type }) => type === "")) {
      yield {
        table: table.name,
        column: name,
        message: `Declare ${name} of ${table.name} as ${types.get(foldName(name))}, which fits what it holds`,
        suggestion,
      };
    }
  }
}

/** Columns that a drafted description names. */
const DRAFT_COLUMNS = 8;

/** Tables that nobody has described. */
export function missingDescription({ schema, address }: Examined): Found[] {
  // A table named "" cannot be described.
  return schema.tables.filter(({ name, description }) => name !== "" && description === "").map((table) => ({
    table: table.name,
    column: null,
    message: `Describe the table ${table.name}: say what a row of it is; the suggestion is a draft`,
    suggestion: databaseCall(address, "PUT", "describe", {
      tables: [{ table: table.name, description: draft(table) }],
    }),
  }));
}

function draft(table: TableFacts): string {
  const columns = table.columns.slice(0, DRAFT_COLUMNS).map(({ name }) => readableWords(name).join(" "));
  const title = readableWords(table.name).join(" ") || table.name;
  const more = table.columns.length > DRAFT_COLUMNS ? ", …" : "";
  return beginning(`${title.slice(0, 1).toUpperCase()}${title.slice(1)}: ${columns.join(", ")}${more}`, 500);
}

/** Indexes that cost time in each write although another index does the same. */
export function redundantIndexes({ schema, indexes }: Examined): Found[] {
  return schema.tables.flatMap((table) => {
    const own = (indexes.get(table.name) ?? []).filter((index) =>
      !index.partial && index.columns.every(({ name }) => name !== null)
    );
    const byPrefix = indexesByPrefix(own);
    return own.filter(({ origin }) => origin === "c").flatMap((index) => {
      const better = coveredBy(table, index, byPrefix.get(prefixes(index).at(-1) ?? "") ?? []);
      return better === null ? [] : [{
        table: table.name,
        column: index.columns[0]?.name ?? null,
        message: `Drop the index ${index.name} of ${table.name}: ${better} does what it does`,
        suggestion: `DROP INDEX IF EXISTS ${quoteIdentifier(index.name)}`,
      }];
    });
  });
}

/** Indexes by each list of columns that they begin with: of thousands only those that can cover an index are compared with it. */
function indexesByPrefix(indexes: readonly IndexFacts[]): Map<string, IndexFacts[]> {
  const byPrefix = new Map<string, IndexFacts[]>();
  for (const index of indexes) {
    for (const prefix of prefixes(index)) {
      const list = byPrefix.get(prefix);
      if (list) list.push(index);
      else byPrefix.set(prefix, [index]);
    }
  }
  return byPrefix;
}

/** The columns that it begins with, as one text each; names contain no U+0000. The last one are all. */
function prefixes({ columns }: IndexFacts): string[] {
  let text = "";
  return columns.map(({ name, collation }) => text += `${foldName(name ?? "")}\u0000${collation}\u0000`);
}

/** What makes the index redundant; null where nothing does. `own`: those that begin with its columns. */
function coveredBy(table: TableFacts, index: IndexFacts, own: readonly IndexFacts[]): string | null {
  const key = table.columns.filter(({ pk }) => pk > 0);
  if (hasRowIdColumn(table) && index.columns.length === 1 && index.columns[0]?.name === key[0]?.name) {
    return "the primary key";
  }
  const better = own.find((other) => other !== index && covers(other, index));
  return better ? (better.origin === "c" ? `the index ${better.name}` : "a UNIQUE or PRIMARY KEY") : null;
}

/** Of two equal indexes the one of a constraint stays, then the unique one, then the first by name. */
function covers(other: IndexFacts, index: IndexFacts): boolean {
  const equal = other.columns.length === index.columns.length;
  if (index.unique) return equal && other.unique && stays(other, index);
  return !equal || other.unique || stays(other, index);
}

function stays(other: IndexFacts, index: IndexFacts): boolean {
  return other.origin !== "c" || other.name < index.name;
}

/** Numeric columns that hold text: comparisons, sums and sorting go wrong without an error. */
export function* integerTextMix(examined: Examined): Generator<Found> {
  for (const table of examined.schema.tables) {
    const types = textTypes(examined, table);
    const rebuild = types.size === 0 ? null : rebuildCall(examined, table);
    for (const column of table.columns.filter((one) => isMixed(examined, table, one))) {
      const where = { table: table.name, column: column.name };
      const type = types.get(column.name);
      yield type !== undefined && rebuild !== null
        ? {
          ...where,
          message: `Declare ${column.name} of ${table.name} as ${type}: its CHECK names texts as values`,
          suggestion: rebuild,
        }
        : {
          ...where,
          message: `Move the text out of ${column.name} of ${table.name}, which is declared ${column.type}`,
          suggestion: batchCall(examined.address, moveText(examined, table, column)),
        };
    }
  }
}

/** Moves text to a new column beside, so that nothing is lost. A column that must have a value gets a number. */
function moveText(examined: Examined, table: TableFacts, column: ColumnFacts): string[] {
  const name = quoteIdentifier(column.name);
  const beside = quoteIdentifier(freeName(columnNames(table), `${column.name}_text`));
  const left = column.notNull || column.pk > 0 ? numberFor(examined, table, column) : "NULL";
  return [
    `ALTER TABLE ${quoteIdentifier(table.name)} ADD COLUMN ${beside} TEXT`,
    `UPDATE ${quoteIdentifier(table.name)} SET ${beside} = ${name}, ${name} = ${left} ` +
    `WHERE typeof(${name}) IN ('text', 'blob')`,
  ];
}

/** The number that a text begins with, or 0. Where a CHECK may refuse that, the smallest one that the column has. */
function numberFor(examined: Examined, table: TableFacts, column: ColumnFacts): string {
  const name = quoteIdentifier(column.name);
  const begun = `CAST(${name} AS ${affinityOf(column.type)})`;
  const checked = textOf(examined, table)?.checkedValues(column.name);
  const isUnique = column.pk > 0 ||
    (examined.indexes.get(table.name) ?? []).some(({ unique, columns }) =>
      unique && columns.some((one) => one.name === column.name)
    );
  if (checked !== "other" || isUnique) return begun;
  return `coalesce((SELECT min(${name}) FROM ${quoteIdentifier(table.name)} ` +
    `WHERE typeof(${name}) IN ('integer', 'real')), ${begun})`;
}
