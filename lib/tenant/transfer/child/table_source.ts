// How each table of a file is read: which columns, in which order, and for full-text and R*Tree tables from where.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { foldName, sameName } from "../../../sql/words/names.ts";
import { quoteIdentifier as quoted } from "../../../sql/words/quote.ts";
import { freeRowidName } from "../../../sql/words/rowid_names.ts";
import { ask, type Asking } from "./asking.ts";
import type { RowSource, SourceColumn } from "./engine_rows.ts";
import { Unreadable } from "./not_taken.ts";

/** A table to read. */
export interface TableSource extends RowSource {
  readonly sql: string;
  /** An integer expression by which pages are read; null: there is none. */
  readonly key: string | null;
  /** What makes a full-text index whole: its own rows, the rows of another table, or only a copy of its storage. */
  readonly fills: "rows" | "rebuild" | "storage";
  /** The tables of a virtual table's storage, with their columns. */
  readonly storage: readonly StorageTable[];
  /** The settings of a full-text table. */
  readonly config: readonly (readonly [name: string, value: EngineValue])[];
}

/** A table that a virtual table keeps its own data in. */
export interface StorageTable {
  readonly name: string;
  /** As INSERT has them. */
  readonly columns: readonly string[];
}

/** The tables of a file, by their folded names. */
export interface ListedTables {
  readonly all: ReadonlySet<string>;
  readonly withoutRowid: ReadonlySet<string>;
}

const STORAGE = { fts5: ["data", "idx", "content", "docsize", "config"], rtree: ["node", "rowid", "parent"] };

/** The source of an ordinary table. */
export function* tableSource(
  { name, sql, tables }: { readonly name: string; readonly sql: string; readonly tables: ListedTables },
): Asking<TableSource> {
  const columns = (yield* ask("SELECT name, pk, hidden, type FROM pragma_table_xinfo(?) ORDER BY cid", name))
    .map(([column, pk, hidden, type]) => ({
      name: String(column),
      pk: Number(pk),
      hidden: Number(hidden),
      type: String(type),
    }));
  const keys = yield* primaryKey(name);
  const withoutRowid = tables.withoutRowid.has(foldName(name));
  const marked = columns.filter(({ pk }) => pk > 0);
  const alias = !withoutRowid && keys === null && marked.length === 1 ? marked[0] : undefined;
  const free = freeRowidName(columns.map((column) => column.name));
  // With the table's name, because a bare one would be that of a result's column in ORDER BY, where it has the same.
  const key = withoutRowid ? null : alias ? `${quoted(name)}.${quoted(alias.name)}` : free;
  return {
    name,
    sql,
    columns: columns.filter(({ hidden }) => hidden === 0).map((one) => plainColumn(one.name)),
    rowid: !withoutRowid && !alias && free ? { name: free, target: free, select: free } : null,
    from: quoted(name),
    order: withoutRowid ? keys ?? "1" : key ?? "1",
    key,
    fills: "rows",
    storage: [],
    config: [],
  };
}

function plainColumn(name: string): SourceColumn {
  return { name, target: quoted(name), select: quoted(name) };
}

/** The order of the index of a primary key; null: there is none, because the key is the rowid or the table has none. */
function* primaryKey(table: string): Asking<string | null> {
  const [index] = yield* ask("SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", table);
  if (index === undefined) return null;
  const parts = yield* ask(
    'SELECT name, "desc", coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno',
    String(index[0]),
  );
  return parts.map(([name, desc, collation]) =>
    `${quoted(String(name))} COLLATE ${quoted(String(collation))}${Number(desc) === 1 ? " DESC" : ""}`
  ).join(", ");
}

/** The source of a virtual table of a module that tenants may use. */
export function* virtualSource(
  { name, sql, module, tables }: {
    readonly name: string;
    readonly sql: string;
    readonly module: string;
    readonly tables: ListedTables;
  },
): Asking<TableSource> {
  const storage = (part: string) => quoted(`${name}_${part}`);
  const names = (yield* ask("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", name))
    .map(([one]) => String(one));
  const parts = module === "fts5" ? STORAGE.fts5 : STORAGE.rtree;
  const present = parts.map((part) => `${name}_${part}`).filter((one) => tables.all.has(foldName(one)));
  const stored: StorageTable[] = [];
  for (const table of present) {
    const columns = (yield* ask("SELECT name FROM pragma_table_info(?)", table)).map(([one]) =>
      quoted(String(one))
    );
    stored.push({ name: table, columns });
  }
  const base = { name, sql, storage: stored, config: yield* configOf(name, present) };
  if (module !== "fts5") {
    const [id = "id"] = names;
    return {
      ...base,
      columns: names.map((one) => ({ ...plainColumn(one), select: `r.${quoted(one)}` })),
      rowid: null,
      from: `${storage("rowid")} k CROSS JOIN ${quoted(name)} r ON r.${quoted(id)} = k.rowid`,
      order: "k.rowid",
      key: "k.rowid",
      fills: "rows",
    };
  }
  const content = contentOf(sql);
  // Of a table that is called as the row id, that name takes commands.
  const rowid = freeRowidName([name, ...names]);
  return {
    ...base,
    // What the index stores of its own rows: the columns are named by their place.
    columns: names.map((one, at) => ({ ...plainColumn(one), select: `c${at}` })),
    rowid: rowid === null ? null : { name: rowid, target: rowid, select: "id" },
    from: storage("content"),
    order: "id",
    key: "id",
    fills: content === null ? "rows" : content === "" ? "storage" : "rebuild",
  };
}

function* configOf(name: string, present: readonly string[]): Asking<TableSource["config"]> {
  const table = present.find((one) => sameName(one, `${name}_config`));
  if (table === undefined) return [];
  const rows = yield* ask(`SELECT k, v FROM ${quoted(table)} WHERE k <> 'version' ORDER BY k`);
  return rows.map(([key = null, value = null]) => {
    if (typeof key !== "string") throw new Unreadable(`the settings of ${name} are damaged`);
    return [key, value];
  });
}

/** The option `content` of a full-text table: null where it keeps its own rows, empty where nobody does. */
export function contentOf(sql: string): string | null {
  const tokens = sqlTokens(sql);
  const at = tokens.findIndex(({ kind, text, depth }, index) =>
    kind === "word" && depth === 1 && foldName(text) === "content" && tokens[index + 1]?.key === "=" &&
    /^[(,]$/.test(tokens[index - 1]?.key ?? "")
  );
  const value = at < 0 ? undefined : tokens[at + 2];
  if (value === undefined) return null;
  return value.text.replace(/^'(.*)'$/s, "$1");
}

/** The columns of a full-text table, as its text names them. */
export function ftsColumns(sql: string): string[] {
  const tokens = sqlTokens(sql);
  return tokens.filter(({ depth, kind }, at) =>
    depth === 1 && (kind === "word" || kind === "name" || kind === "literal") &&
    (tokens[at - 1]?.key === "(" || tokens[at - 1]?.key === ",") && tokens[at + 1]?.key !== "="
  ).map(({ text }) => text.replace(/^'(.*)'$/s, "$1"));
}
