// Builds a database file of items, behind the guard of tenants' connections. The file is nobody's until it is finished,
// so that a failure leaves nothing but a file to remove.
import { Connection } from "../../../engine/connection.ts";
import { ENGINE_LIMITS } from "../../../engine/engine_limits.ts";
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier as quoted } from "../../../sql/words/quote.ts";
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import { serviceTableStatements } from "../../../sql/words/service_tables.ts";
import type { StatementSync } from "node:sqlite";
import { OddText, type StoredValue } from "../../../sql/words/stored_text.ts";
import { brokenReference } from "./broken_reference.ts";
import type { Item, RowsItem } from "./items.ts";
import { isNoRoom } from "./no_room.ts";
import { NotTaken } from "./not_taken.ts";

/** What was built. */
export interface Built {
  readonly tables: number;
  readonly rows: number;
  readonly notKept: readonly string[];
}

/** How the file is made. */
export interface BuilderOptions {
  /** With the service's own tables, as a tenant's database has them. */
  readonly forService: boolean;
  /** Whether rows may refer to rows that are not there. */
  readonly looseReferences: boolean;
}

/** The engine's code for what is larger than its bound (sqlite.org/rescode.html). */
const SQLITE_TOOBIG = 18;

/** No rollback is needed; what is sorted for an index goes to the disk, because it may be as large as a table. */
const PRAGMAS = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF; " +
  "PRAGMA temp_store=FILE; PRAGMA cache_size=-16000";

/** A database file that is being built. */
export class Builder {
  readonly #connection: Connection;
  readonly #statements = new Map<string, StatementSync>();
  /** The names of tables, folded, as they were written. */
  readonly #tables = new Map<string, string>();
  readonly #emptied = new Set<string>();
  readonly #notKept: string[] = [];
  #rows = 0;
  /** The row of an item that is being written. */
  #row = 0;

  constructor(path: string, private readonly options: BuilderOptions) {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
    this.#connection = new Connection(path);
    this.#connection.database.exec(PRAGMAS);
    this.#connection.internalRun("BEGIN");
    if (options.forService) { for (const sql of serviceTableStatements) this.#connection.internalRun(sql); }
  }

  /** Throws `NotTaken`; what the engine throws where there is no room. */
  take(item: Item): void {
    try {
      this.#take(item);
    } catch (error) {
      if (!(error instanceof Error) || isNoRoom(error)) throw error;
      const at = placeOf(item, this.#row);
      if (!(error instanceof NotTaken)) throw new NotTaken(`${whatIs(item)}: ${messageOf(error)}`, at);
      throw new NotTaken(error.message, error.at ?? at);
    }
  }

  /** Closes the file. Throws `NotTaken` where rows break a constraint. */
  finish(): Built {
    const connection = this.#connection;
    connection.internalRun("COMMIT");
    this.#statements.clear();
    if (this.options.forService) {
      this.#check();
      connection.internalRow("PRAGMA journal_mode=WAL");
    } else connection.internalRow("PRAGMA journal_mode=DELETE");
    connection.close();
    return { tables: this.#tables.size, rows: this.#rows, notKept: this.#notKept };
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #take(item: Item): void {
    const connection = this.#connection;
    switch (item.t) {
      case "object":
        connection.run("schema", item.sql, [], NOTHING, PLAIN_ROWS);
        if (item.type === "table" || item.type === "virtual") {
          this.#tables.set(foldName(item.name), item.name);
        }
        return connection.schemaChanged();
      case "rows":
        return this.#insert(item);
      case "statement":
        connection.run("schema", item.sql, [], NOTHING, PLAIN_ROWS);
        this.#rows += Number(connection.figures.all().own);
        return;
      case "sequence":
        this.#known(item.table);
        connection.internalRun("DELETE FROM sqlite_sequence WHERE name = ?", item.table);
        connection.internalRun("INSERT INTO sqlite_sequence VALUES (?, ?)", item.table, item.value);
        return;
      case "config":
        return this.#configure(item);
      case "rebuild":
        return this.#fill(item.table);
      case "version":
        return connection.database.exec(`PRAGMA user_version=${item.value}`);
      case "notKept":
        this.#notKept.push(item.what);
    }
  }

  #insert({ table, columns, rows, storage }: RowsItem): void {
    this.#row = 0;
    if (storage) this.#empty(table);
    else this.#known(table);
    for (const row of rows) {
      const odd = row.some((value) => value instanceof OddText);
      this.#inserter(table, { columns, width: row.length, odd }).get(...odd ? oddValues(row) : plain(row));
      this.#row++;
    }
    if (!storage) this.#rows += rows.length;
  }

  #inserter(
    table: string,
    { columns, width, odd }: {
      readonly columns: readonly string[] | null;
      readonly width: number;
      readonly odd: boolean;
    },
  ): StatementSync {
    const names = columns === null ? "" : `(${columns.join(", ")})`;
    const value = (at: number) =>
      odd ? `CASE WHEN ?${2 * at + 1} THEN CAST(?${2 * at + 2} AS TEXT) ELSE ?${2 * at + 2} END` : "?";
    const values = Array.from({ length: width }, (_, at) => value(at)).join(", ");
    const sql = `INSERT INTO ${quoted(table)}${names} VALUES (${values})`;
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connection.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Storage of a virtual table has its first rows from the start, and only here may be written. */
  #empty(table: string): void {
    if (this.#emptied.has(table)) return;
    const of = [...this.#tables.values()].some((name) => table.startsWith(`${name}_`));
    if (!of) throw new NotTaken(`${table} is no storage of a table`, null);
    this.#connection.database.enableDefensive(false);
    this.#connection.internalRun(`DELETE FROM ${quoted(table)}`);
    this.#emptied.add(table);
  }

  #configure({ table, name, value }: Extract<Item, { t: "config" }>): void {
    this.#known(table);
    if (value instanceof OddText || value instanceof Uint8Array) {
      throw new NotTaken("a setting is damaged", null);
    }
    const target = quoted(table);
    this.#connection.internalRun(`INSERT INTO ${target}(${target}, rank) VALUES (?, ?)`, name, value);
  }

  /** The content may be missing or another one than it was; the index is then as empty as it was useless. */
  #fill(table: string): void {
    this.#known(table);
    const target = quoted(table);
    try {
      this.#connection.internalRun(`INSERT INTO ${target}(${target}) VALUES ('rebuild')`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#notKept.push(`the index of ${table}: ${error.message}`);
    }
  }

  #known(table: string): void {
    if (this.#tables.has(foldName(table))) return;
    // A file of rows alone is meant for tables that are there.
    const way = this.#tables.size === 0
      ? "; a file of INSERTs for tables that are there is sent as a migration"
      : "";
    throw new NotTaken(`no such table: ${table}${way}`, null);
  }

  #check(): void {
    // The engine itself has made the indexes of these rows, so the longest part, to look for each row in each, is left out.
    const [found] = this.#connection.internalRow("PRAGMA quick_check(1)") ?? [];
    if (found !== "ok") throw new NotTaken(`the rows break a constraint: ${found}`, null);
    if (this.options.looseReferences) return;
    const broken = brokenReference(this.#connection, this.#tables.values());
    if (broken === undefined) return;
    throw new NotTaken(
      `a row of ${broken[0]} (rowid ${broken[1]}) refers to a row of ${
        broken[2]
      } that is not there; foreign_keys=off takes such rows`,
      null,
    );
  }
}

const NOTHING = { maxRows: 100, maxBytes: 10_000 };

function whatIs(item: Item): string {
  if (item.t === "object") return `${item.type === "virtual" ? "table" : item.type} ${item.name}`;
  return "table" in item ? `table ${item.table}` : "the statement";
}

function messageOf(error: Error): string {
  if (Reflect.get(error, "errcode") !== SQLITE_TOOBIG) return error.message;
  return `${error.message}; a value, and a row, may have ${ENGINE_LIMITS.length} bytes`;
}

/** Where the item, or this row of it, stands in what was read. */
function placeOf(item: Item, row: number): string | null {
  const line = item.t === "rows" ? item.lines?.[row] : undefined;
  if (line !== undefined) return `line ${line}`;
  return "at" in item ? item.at ?? null : null;
}

/** Guarantee: no value is an `OddText`. */
function plain(row: readonly StoredValue[]): Exclude<StoredValue, OddText>[] {
  return row as Exclude<StoredValue, OddText>[];
}

function oddValues(row: readonly StoredValue[]): Exclude<StoredValue, OddText>[] {
  return row.flatMap((value) => value instanceof OddText ? [1n, value.bytes] : [0n, value]);
}
