// One table on the ancestor's and the branch's side, with what to read from each so that rows can be compared.
import { defaultExpression } from "../../sql/schema/default_expression.ts";
import { moduleOf } from "../../sql/tokens/module_of.ts";
import { quoteIdentifier as quoted } from "../../sql/words/quote.ts";
import { freeRowidName } from "../../sql/words/rowid_names.ts";
import { type ColumnShape, type SchemaObject, type SchemaShape } from "../../sql/schema/schema_shape.ts";
import {
  columnsOf,
  isVirtual,
  type KnownRenames,
  type TableLineage,
  tableLineage,
} from "../../sql/schema/table_lineage.ts";
import { readSchema } from "./read_schema.ts";
import type { Reading } from "./row_pages.ts";
import { type Row, rowsOf, type Side, type Work } from "./work.ts";

/** A table on one side. */
export interface TableSide {
  readonly of: Side;
  readonly table: string;
  /** SQL expressions, one for each column of the pair. */
  readonly columns: readonly string[];
  /** The name that reads the table's rowid; null: rows are read in the order of the key. */
  readonly rowid: string | null;
  readonly reading: Reading;
}

/** What of a text does not tell keys apart: the case of A to Z, or spaces at its end; null: all of it does. */
export type Fold = "NOCASE" | "RTRIM" | null;

/** A table on both sides. */
export interface TablePair {
  readonly table: string;
  /** Column names of the branch, or of the ancestor where the branch has dropped the table. */
  readonly columns: readonly string[];
  /** Indexes of the primary key's columns in `columns`, in the key's order. Empty: the table has no key. */
  readonly key: readonly number[];
  /** For each of `key`, how the engine compares its texts. */
  readonly folds: readonly Fold[];
  /** The key is the rowid itself. */
  readonly keyIsRowid: boolean;
  /** The first of `columns` is the rowid, of which the schema tells no column. */
  readonly hasOwnRowid: boolean;
  readonly ancestor: TableSide | null;
  readonly branch: TableSide | null;
  readonly obstacle: string | null;
}

/** A schema and where it was read. */
export interface SchemaSide {
  readonly of: Side;
  readonly shape: SchemaShape;
  /** Names of tables without rowid. */
  readonly withoutRowid: ReadonlySet<string>;
  /** By table whose primary key has an index of its own, and column of that key: an INTEGER PRIMARY KEY DESC is no rowid. */
  readonly folds: ReadonlyMap<string, ReadonlyMap<string, Fold>>;
  readonly reading: Reading;
}

const FOLDS =
  "SELECT t.name, x.name, x.coll FROM pragma_table_list AS t, pragma_index_list(t.name) AS l, pragma_index_xinfo(l.name) AS x " +
  "WHERE t.schema = 'main' AND t.type = 'table' AND l.origin = 'pk' AND x.key = 1";

/** Reads the schema and the tables of one side. */
export function* readSide(of: Side, reading: Reading): Work<SchemaSide> {
  const shape = yield* readSchema(of);
  const rows = yield* rowsOf(of, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND wr = 1");
  const collated = Map.groupBy(yield* rowsOf(of, FOLDS), ([table]) => String(table));
  const folds = new Map([...collated].map(([table, columns]) => [table, new Map(columns.map(foldOf))]));
  return { of, shape, withoutRowid: new Set(rows.map(([name]) => String(name))), folds, reading };
}

/** The engine keeps the name of a collation as it was written. */
function foldOf([, column, collation]: Row): [column: string, fold: Fold] {
  const name = String(collation).toUpperCase();
  return [String(column), name === "NOCASE" || name === "RTRIM" ? name : null];
}

/** Pairs the tables of both sides, except full-text indexes over other tables, which have no rows of their own. */
export function tablePairs(ancestor: SchemaSide, branch: SchemaSide, known: KnownRenames): TablePair[] {
  const lineage = tableLineage(ancestor.shape, branch.shape, known);
  const used = new Set([...lineage.values()].map(({ before }) => before.name));
  const present = tablesWithRows(branch.shape).map((table) => {
    const source = lineage.get(table.name);
    const columns = comparedColumns(branch.shape, table);
    return pairOf(table, { columns, folds: branch.folds.get(table.name) }, {
      branch: sideOf(branch, table, columns.map(({ name }) => quoted(name))),
      ancestor: source
        ? sideOf(ancestor, source.before, columns.map((one) => sourceOf(one, source, ancestor)))
        : null,
      obstacle: null,
    });
  });
  const dropped = tablesWithRows(ancestor.shape).filter(({ name }) => !used.has(name)).map((table) => {
    const columns = comparedColumns(ancestor.shape, table);
    return pairOf(table, { columns, folds: ancestor.folds.get(table.name) }, {
      branch: null,
      ancestor: sideOf(ancestor, table, columns.map(({ name }) => quoted(name))),
      obstacle: "The branch has dropped the table; merge the schema",
    });
  });
  return [...present, ...dropped].sort((a, b) => a.table < b.table ? -1 : 1);
}

/** Pairs the content of full-text indexes over other tables: each name with the rows that store the index. */
export function indexPairs(ancestor: SchemaSide, branch: SchemaSide): TablePair[] {
  const [older, newer] = [ancestor, branch].map(({ shape }) =>
    new Set(derivedIndexes(shape).map(({ name }) => name))
  );
  return [...new Set([...older ?? [], ...newer ?? []])].map((table) => {
    const columns = ["id", "block"];
    const side = ({ of, reading }: SchemaSide): TableSide => (
      { of, table: `${table}_data`, columns: columns.map(quoted), rowid: "rowid", reading }
    );
    return {
      table,
      columns,
      key: [0],
      folds: [null],
      keyIsRowid: true,
      hasOwnRowid: false,
      obstacle: null,
      ancestor: older?.has(table) ? side(ancestor) : null,
      branch: newer?.has(table) ? side(branch) : null,
    };
  });
}

/** Full-text indexes with the table whose content each indexes; the engine accepts any prefix of the option `content`. */
export function derivedIndexes(shape: SchemaShape): { readonly name: string; readonly content: string }[] {
  return shape.objects.flatMap((one) => {
    const content = isVirtual(one)
      ? /\bco?n?t?e?n?t?\s*=\s*["'`[]?([^"'`\]\s,)]*)/i.exec(one.sql)?.[1]
      : undefined;
    return content === undefined ? [] : [{ name: one.name, content }];
  });
}

function tablesWithRows(shape: SchemaShape): SchemaObject[] {
  const derived = new Set(derivedIndexes(shape).map(({ name }) => name));
  return shape.objects.filter((one) => one.type === "table" && !derived.has(one.name));
}

/** As `hidden` of a column: the rowid, of which the schema tells no column. */
const OWN_ROWID = -1;

/** The stored columns, with the rowid for a full-text index, whose key it is; one that leaves it no name has no key. */
function comparedColumns(shape: SchemaShape, table: SchemaObject): ColumnShape[] {
  const columns = columnsOf(shape, table).filter(({ hidden }) => hidden === 0);
  if (!isVirtual(table)) return columns;
  if (moduleOf(table.sql)?.startsWith("rtree")) {
    return columns.map((column, at) => at === 0 ? { ...column, keyIndex: 1 } : column);
  }
  const name = rowidOf(shape, table);
  if (name === null) return columns;
  return [{ name, type: "", notNull: true, defaultSql: null, keyIndex: 1, hidden: OWN_ROWID }, ...columns];
}

/** The name that reads the rowid. A full-text index has a column of its own name, which takes commands. */
function rowidOf(shape: SchemaShape, table: SchemaObject): string | null {
  return freeRowidName(columnsOf(shape, table).map(({ name }) => name));
}

const KEYLESS =
  "The table has no primary key; undo in the branch what has changed in it, or give it a key in the trunk and reset the branch";

const NAMELESS =
  "Its name and columns leave no name for the rowid; undo in the branch what has changed in it, or rename the table in the trunk and reset the branch";

function pairOf(
  table: SchemaObject,
  { columns, folds }: {
    readonly columns: readonly ColumnShape[];
    readonly folds: ReadonlyMap<string, Fold> | undefined;
  },
  sides: Pick<TablePair, "ancestor" | "branch" | "obstacle">,
): TablePair {
  const keyColumns = columns.filter(({ keyIndex }) => keyIndex > 0).sort((a, b) => a.keyIndex - b.keyIndex);
  const key = keyColumns.map((column) => columns.indexOf(column));
  const keyIsRowid = key.length === 1 && (isVirtual(table) ||
    (folds === undefined && /^integer$/i.test(keyColumns[0]?.type ?? "") &&
      sides.branch?.rowid !== null &&
      sides.ancestor?.rowid !== null));
  const keyless = key.length > 0 ? null : isVirtual(table) ? NAMELESS : KEYLESS;
  return {
    table: table.name,
    columns: columns.map(({ name }) => name),
    key,
    folds: keyColumns.map(({ name }) => folds?.get(name) ?? null),
    keyIsRowid,
    hasOwnRowid: columns.some(({ hidden }) => hidden === OWN_ROWID),
    ...sides,
    obstacle: sides.obstacle ?? keyless,
  };
}

function sideOf(
  { of, shape, withoutRowid, reading }: SchemaSide,
  table: SchemaObject,
  columns: readonly string[],
): TableSide {
  const rowid = withoutRowid.has(table.name) ? null : rowidOf(shape, table);
  return { of, table: table.name, columns, rowid, reading };
}

/** SQL of the older column, or of the value that adding the column gave to existing rows. */
function sourceOf(column: ColumnShape, { before, columns }: TableLineage, { shape }: SchemaSide): string {
  const older = column.hidden === OWN_ROWID ? rowidOf(shape, before) : columns.get(column.name);
  if (older) return quoted(older);
  if (column.defaultSql === null) return "NULL";
  const value = defaultExpression(column.defaultSql);
  // The engine converts a default by the column's type when it stores it.
  return /int|char|clob|text|real|floa|doub/i.test(column.type)
    ? `CAST(${value} AS ${quoted(column.type)})`
    : value;
}
