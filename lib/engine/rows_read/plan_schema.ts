// The tables, indexes and keys of a database, as the rows-read estimate needs them. Valid for one schema version.
import type { DatabaseSync } from "node:sqlite";

/** One index of a table. */
export interface IndexShape {
  readonly unique: boolean;
  /** Whether a key column may be NULL: a search from another table then goes on to a second row. */
  readonly nullable: boolean;
  /** Key columns in order, lower case; empty text for an expression. */
  readonly columns: readonly string[];
}

/** Reads tables, indexes and keys from the catalogue when they are first asked for. */
export class PlanSchema {
  #tables: Map<string, string> | null = null;
  #views: Map<string, string> | null = null;
  readonly #rowIds = new Map<string, string>();
  readonly #indexes = new Map<string, IndexShape | null>();

  /** `database`: a connection that sees the schema at this moment. */
  constructor(private readonly database: () => DatabaseSync) {}

  /** Lower-case name → name as stored, for everything that holds rows. */
  tables(): ReadonlyMap<string, string> {
    return this.#tables ??= new Map([
      ...this.#texts("SELECT name FROM sqlite_schema WHERE type = 'table'").map(([name = ""]) =>
        [name.toLowerCase(), name] as const
      ),
      ...["sqlite_schema", "sqlite_master"].map((name) => [name, "sqlite_schema"] as const),
    ]);
  }

  /** The index of that name, or null where there is none. */
  tableOfIndex(name: string): string | null {
    const [table] = this.#texts(
      "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?1 COLLATE NOCASE",
      name,
    )[0] ?? [];
    return table ?? null;
  }

  index(name: string): IndexShape | null {
    return this.#cached(`i ${name}`, () => {
      const table = this.tableOfIndex(name);
      return table === null ? null : this.#shape("name = ?2 COLLATE NOCASE", table, name);
    });
  }

  /** The key of a WITHOUT ROWID table. */
  primaryKey(table: string): IndexShape | null {
    return this.#cached(`p ${table}`, () => this.#shape("origin = ?2", table, "pk"));
  }

  /** The column that is the rowid (INTEGER PRIMARY KEY), lower case, or `rowid`. */
  rowIdColumn(table: string): string {
    const known = this.#rowIds.get(table);
    if (known !== undefined) return known;
    const column = this.#findRowId(table);
    this.#rowIds.set(table, column);
    return column;
  }

  #findRowId(table: string): string {
    const columns = this.#texts("SELECT name, type, pk FROM pragma_table_info(?1) WHERE pk > 0", table);
    const [name = "rowid", type] = columns[0] ?? [];
    return columns.length === 1 && type?.toUpperCase() === "INTEGER" ? name.toLowerCase() : "rowid";
  }

  /** The first column of each foreign key of a table, lower case. */
  foreignKeys(table: string): string[] {
    const sql = 'SELECT "from" FROM pragma_foreign_key_list(?1) WHERE seq = 0';
    return this.#texts(sql, table).map(([column = ""]) => column.toLowerCase());
  }

  /** Lower-case name → the SELECT of each view. */
  views(): ReadonlyMap<string, string> {
    return this.#views ??= new Map(
      this.#texts("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").map((
        [name = "", sql = ""],
      ) => [name.toLowerCase(), sql.slice(sql.search(/\bAS\b/i) + 2)]),
    );
  }

  /** Whether deleting rows takes two passes: the engine collects them first where something else may see the change. */
  deletesInTwoPasses(table: string): boolean {
    // By its own name only a table without rowid has columns of an index; the list of tables goes through all of them.
    const sql = "SELECT 1 FROM pragma_index_info(?1) LIMIT 1";
    return this.foreignKeys(table).length > 0 || this.hasTriggers(table) ||
      this.#texts(sql, table).length > 0;
  }

  hasTriggers(table: string): boolean {
    const sql =
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE LIMIT 1";
    return this.#texts(sql, table).length > 0;
  }

  #shape(where: string, table: string, key: string): IndexShape | null {
    const sql =
      'SELECT l."unique", c.name, t."notnull" FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS c ' +
      `LEFT JOIN pragma_table_info(?1) AS t ON t.cid = c.cid WHERE l.${where} ORDER BY c.seqno`;
    const rows = this.#texts(sql, table, key);
    if (rows.length === 0) return null;
    return {
      unique: rows[0]?.[0] === "1",
      nullable: rows.some(([, , notNull]) => notNull !== "1"),
      columns: rows.map(([, column = ""]) => column.toLowerCase()),
    };
  }

  #cached(key: string, make: () => IndexShape | null): IndexShape | null {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#indexes.set(key, made);
    return made;
  }

  #texts(sql: string, ...values: string[]): string[][] {
    return this.database().prepare(sql).all(...values).map((row) =>
      Object.values(row).map((value) => String(value ?? ""))
    );
  }
}
