// The facts about tables that recording their row changes needs, and the queries that every store runs for them.
import { freeRowidName } from "../../sql/words/rowid_names.ts";

type Row = readonly (null | number | bigint | string | Uint8Array)[];

/** The shape of one table. */
export interface TableShape {
  readonly name: string;
  readonly virtual: boolean;
  /** A full-text table whose rows do not show what its index holds, as with `content=''`. */
  readonly hasOwnIndex: boolean;
  /** A full-text table that stores neither text nor sizes; unless another table holds its content, its rows cannot be listed. */
  readonly unlisted: boolean;
  /** A rowid name that no column uses; null where there is none. */
  readonly rowid: string | null;
  readonly columns: readonly ColumnShape[];
  /** Columns of the primary key, in the key's order. */
  readonly key: readonly string[];
  /** The key is the rowid, which the engine assigns where none is given. */
  readonly keyIsRowid: boolean;
  /** The unique keys, for a table in which a conflict may remove rows; null for other tables. */
  readonly uniques: readonly (readonly UniqueColumn[])[] | null;
}

interface ColumnShape {
  readonly name: string;
  /** The column's default is the present time. */
  readonly isTime: boolean;
}

/** A column of a unique key; `name` is null for an expression. */
export interface UniqueColumn {
  readonly name: string | null;
  readonly collation: string;
}

const NAMED = "(SELECT lower(value) FROM json_each(?))";

/** The queries; each takes the table names as one JSON array. */
export const shapeQueries = {
  /** The objects behind the names. A renamed table keeps its root page and its rowid in the catalogue. */
  definitions: "SELECT lower(name), type, rowid, rootpage, sql FROM main.sqlite_schema " +
    `WHERE type IN ('table', 'view') AND lower(name) IN ${NAMED} ORDER BY 1`,
  columns: "SELECT t.name, t.type, t.wr, x.name, x.pk, x.type, x.dflt_value, " +
    // Only fts5 tables have such a shadow table.
    "CASE t.type WHEN 'virtual' THEN (SELECT m.sql FROM main.sqlite_schema AS m, pragma_table_list AS i " +
    "WHERE m.type = 'table' AND m.name = t.name AND i.schema = 'main' AND i.type = 'shadow' " +
    "AND lower(i.name) = lower(t.name) || '_idx') END, " +
    "NOT EXISTS (SELECT 1 FROM pragma_table_list AS i WHERE i.schema = 'main' AND i.type = 'shadow' " +
    "AND lower(i.name) IN (lower(t.name) || '_docsize', lower(t.name) || '_content')) " +
    "FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS x " +
    `WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND x.hidden = 0 AND lower(t.name) IN ${NAMED} ` +
    "ORDER BY t.name, x.cid",
  uniques:
    "SELECT j.value, i.name, x.name, x.coll FROM json_each(?) AS j, pragma_index_list(j.value) AS i, " +
    'pragma_index_xinfo(i.name) AS x WHERE i."unique" = 1 AND x.key = 1 ORDER BY 1, 2, x.seqno',
} as const;

/** Joins the rows of `definitions` into one text. */
export function definitionsText(rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => row.map((value) => value === null ? null : String(value))));
}

/** Reads the shapes of tables in which no rows are replaced, from the rows of `columns`. */
export function plainShapes(columns: readonly Row[]): TableShape[] {
  return readShapes(columns, [], []);
}

/** Reads shapes from the rows of `columns`, and of `uniques` for the tables in which rows may be `replaced`. */
export function readShapes(
  columns: readonly Row[],
  uniques: readonly Row[],
  replaced: readonly string[],
): TableShape[] {
  const replacing = new Set(replaced.map((name) => name.toLowerCase()));
  const byTable = Map.groupBy(columns, ([table]) => String(table));
  return [...byTable].map(([name, rows]) => {
    const shapes = rows.map(([, , , column, , , dflt]) => ({
      name: String(column),
      isTime: isTimeDefault(dflt === null ? "" : String(dflt)),
    }));
    const keyed = rows.filter((row) => Number(row[4]) > 0).sort((a, b) => Number(a[4]) - Number(b[4]));
    const [, type, wr, , , , , fullText, unlisted] = rows[0] ?? [];
    const withoutRowid = Number(wr) === 1;
    return {
      name,
      virtual: type === "virtual",
      hasOwnIndex: mayKeepContentElsewhere(fullText ?? null),
      unlisted: (fullText ?? null) !== null && Number(unlisted) === 1,
      rowid: withoutRowid ? null : freeRowidName(shapes.map((column) => column.name)),
      columns: shapes,
      key: keyed.map((row) => String(row[3])),
      keyIsRowid: !withoutRowid && keyed.length === 1 && /^integer$/i.test(String(keyed[0]?.[5])),
      uniques: replacing.has(name.toLowerCase()) ? uniquesOf(name, uniques) : null,
    };
  });
}

function uniquesOf(table: string, rows: readonly Row[]): UniqueColumn[][] {
  const own = rows.filter(([name]) => String(name).toLowerCase() === table.toLowerCase());
  return [...Map.groupBy(own, ([, index]) => String(index)).values()].map((columns) =>
    columns.map(([, , name, collation]) => ({
      name: name === null ? null : String(name),
      collation: String(collation),
    }))
  );
}

const TIME_DEFAULT =
  /current_(timestamp|date|time)|'now'|(unixepoch|julianday|date|time|strftime\('[^']*')\(?\s*\)/i;

function isTimeDefault(dflt: string): boolean {
  return TIME_DEFAULT.test(dflt);
}

/** Reads the `content` option from a full-text table's definition; the engine accepts any prefix of that word. */
function mayKeepContentElsewhere(sql: Row[number]): boolean {
  return sql !== null && /\bc\w*\s*=/i.test(String(sql));
}
