// One hardened SQLite connection: its limits, its guard and its cache of prepared statements.
import type { RowForm } from "../sql/row_form.ts";
import type {} from "./node_sqlite.d.ts";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { quoteIdentifier } from "../sql/quote.ts";
import type { SqlParameter } from "../sql/sql_value.ts";
import { systemClock } from "../core/clock.ts";
import { arrayRows, type Bounded, BoundedRows, noteSize } from "./bounded_rows.ts";
import { type Bindable, bindable } from "./bindable.ts";
import { FORM_CHARACTERS } from "./bounded_select.ts";
import { noteCompiled } from "./compiled_waste.ts";
import { RowsReadEstimator } from "./rows_read/rows_read.ts";
import { ENGINE_LIMITS, ENGINE_PRAGMAS } from "./engine_limits.ts";
import { closedModules, Guard, type Level, type RunningLevel } from "./guard.ts";
import { type EngineValue, isIntegerOutOfRange, type ResultBounds, rowsJson } from "./result_json.ts";

/** Prepared statements cached for each connection. */
const CACHED_STATEMENTS = 128;
/** Milliseconds that SQLite itself waits for another process's lock; writers of one database are queued anyway. */
const BUSY_TIMEOUT_MS = 2000;

interface Prepared extends Bounded {
  readonly statement: StatementSync;
  readonly columnsJson: string;
  /** Slower than numbers: a read has them once a number would not do. A write has done its work when that shows. */
  bigIntegers: boolean;
}

/** The result of one statement. */
export interface RunResult {
  /** `{"columns":[…],"rows":[…]`, the closing brace left to the caller. */
  readonly json: string;
  readonly rowCount: number;
}

export type { EngineValue };

/** One guarded connection. */
export class Connection {
  readonly database: DatabaseSync;
  readonly guard: Guard;
  readonly #bounded: BoundedRows;
  readonly #prepared = new Map<string, Prepared>();
  readonly #internal = new Map<string, StatementSync>();
  #rowsRead: RowsReadEstimator | null = null;

  constructor(path: string, readOnly: boolean) {
    this.database = openDatabase(path, readOnly);
    this.database.exec(ENGINE_PRAGMAS);
    this.guard = new Guard(closedModules(moduleNames(this.database)));
    this.#bounded = new BoundedRows(this.database, this.guard);
    this.database.setAuthorizer(this.guard.authorize);
  }

  /** One row of the service's own SQL as an array, or undefined. */
  internalRow(sql: string, ...params: (string | number | bigint | null)[]): EngineValue[] | undefined {
    return arrayRow(this.#internalStatement(sql).get(...params));
  }

  /** All rows of the service's own SQL as arrays. */
  internalRows(sql: string, ...params: (string | number | bigint | null)[]): EngineValue[][] {
    return arrayRows(this.#internalStatement(sql).all(...params));
  }

  internalRun(sql: string, ...params: (string | number | bigint | null)[]): void {
    this.#internalStatement(sql).run(...params);
  }

  /** Forgets prepared statements of tenants: their column names hold for one schema only. */
  schemaChanged(): void {
    this.#prepared.clear();
    this.#rowsRead?.schemaChanged();
  }

  /** Rows that a statement which has just run here has read (`meta.rowsReadBasis` is `plan`). */
  rowsRead(sql: string, rowsReturned: number, rowsWritten: number): number {
    this.#rowsRead ??= new RowsReadEstimator(this.database, systemClock);
    return this.#rowsRead.rowsRead(sql, rowsReturned, rowsWritten);
  }

  /** Compiles a tenant statement at a level without running it. Throws what the engine throws. */
  compile(level: Level, sql: string): void {
    this.#atLevel(level, () => this.database.prepare(sql));
    noteCompiled(sql);
  }

  /** Runs one tenant statement at a level, a write once only. Throws what the engine throws, or `ResultTooLarge`. */
  run(
    level: RunningLevel,
    sql: string,
    params: readonly SqlParameter[],
    bounds: ResultBounds,
    rowForm: RowForm,
  ): RunResult {
    const once = () =>
      this.#atLevel(level, () => {
        const prepared = this.#prepare(level, sql);
        const values = bindable(params);
        try {
          return this.#read(prepared, values, bounds, rowForm);
        } catch (error) {
          if (prepared.bigIntegers || !isIntegerOutOfRange(error)) throw error;
          prepared.bigIntegers = true;
          return this.#read(prepared, values, bounds, rowForm);
        }
      });
    if (level === "read") return this.#withVirtualTables(once);
    const result = once();
    // Column names of what was compiled before may hold no more, in the same call.
    if (level === "schema") this.#prepared.clear();
    return result;
  }

  /** The first rows of a statement that has done all its work when they come, as one with RETURNING has. */
  firstRows(level: Level, sql: string, params: readonly SqlParameter[], count: number): EngineValue[][] {
    const start = () => this.#prepare(level, sql).statement.iterate(...bindable(params));
    return this.#atLevel(level, () => arrayRows(start().take(count).toArray()));
  }

  close(): void {
    this.#prepared.clear();
    this.#internal.clear();
    this.database.close();
  }

  /**
   * A virtual table that is first touched compiles statements of its own, `rtree` such as write its shadow tables too,
   * and a PRAGMA may touch it. The guard refuses them to a read, so they are compiled here; then the read has another try.
   */
  #withVirtualTables<T>(read: () => T): T {
    try {
      const result = read();
      if (this.guard.denial === null) return result;
    } catch (error) {
      if (this.guard.denial === null) throw error;
    }
    const names = this.internalRows("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'");
    for (const [name] of names) this.compile("schema", `SELECT * FROM ${quoteIdentifier(String(name))}`);
    return read();
  }

  #read(
    prepared: Prepared,
    values: Bindable[],
    bounds: ResultBounds,
    rowForm: RowForm,
  ): RunResult {
    const { statement } = prepared;
    const big = rowForm.integersAsStrings || prepared.bigIntegers;
    if (prepared.columns.length === 0) {
      statement.run(...values);
      return { json: '{"columns":[],"rows":[]', rowCount: 0 };
    }
    statement.setReadBigInts(big);
    // What has no bounded form, the service bounds by watching this process's memory.
    const forms = this.#bounded.formsOf(prepared, bounds);
    const rows = forms ? this.#bounded.read(forms, values, bounds, big) : arrayRows(statement.all(...values));
    const json = rowsJson(rows, bounds, { rowForm, big });
    if (forms) noteSize(forms, json.length, bounds);
    return { json: `{"columns":${prepared.columnsJson},"rows":${json}`, rowCount: rows.length };
  }

  #prepare(level: RunningLevel, sql: string): Prepared {
    const key = level + sql;
    const cached = this.#prepared.get(key);
    if (cached) {
      // Re-inserting keeps the map in order of use, so that the first key is the one to drop.
      if (this.#prepared.size > CACHED_STATEMENTS / 2) {
        this.#prepared.delete(key);
        this.#prepared.set(key, cached);
      }
      return cached;
    }
    const statement = this.database.prepare(sql);
    noteCompiled(sql);
    statement.setReturnArrays(true);
    const columns = statement.columns().map((column) => column.name);
    const prepared: Prepared = {
      statement,
      columns,
      columnsJson: JSON.stringify(columns),
      bigIntegers: level !== "read",
      forms: undefined,
      sql: level === "read" ? sql : null,
    };
    if (this.#prepared.size >= CACHED_STATEMENTS) {
      for (const oldest of this.#prepared.keys()) {
        this.#prepared.delete(oldest);
        break;
      }
    }
    this.#prepared.set(key, prepared);
    return prepared;
  }

  #internalStatement(sql: string): StatementSync {
    let statement = this.#internal.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      statement.setReturnArrays(true);
      this.#internal.set(sql, statement);
    }
    return statement;
  }

  #atLevel<T>(level: RunningLevel, work: () => T): T {
    const { guard } = this;
    guard.denial = null;
    guard.level = level;
    try {
      return work();
    } finally {
      guard.level = "internal";
    }
  }
}

function openDatabase(path: string, readOnly: boolean): DatabaseSync {
  return new DatabaseSync(path, {
    readOnly,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
    timeout: BUSY_TIMEOUT_MS,
    defensive: true,
    limits: { ...ENGINE_LIMITS, sqlLength: ENGINE_LIMITS.sqlLength + FORM_CHARACTERS },
  });
}

function moduleNames(database: DatabaseSync): string[] {
  const statement = database.prepare("PRAGMA module_list");
  statement.setReturnArrays(true);
  return arrayRows(statement.all()).map((row) => String(row[0]));
}

/** With `setReturnArrays(true)` a row is an array of engine values; the type of `node:sqlite` does not say so. */
function arrayRow(row: unknown): EngineValue[] | undefined {
  return Array.isArray(row) ? row : undefined;
}
