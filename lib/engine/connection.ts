// One hardened SQLite connection: its limits, its guard and its cache of prepared statements.
import type { RowForm } from "../sql/row_form.ts";
import type {} from "./node_sqlite.d.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openDatabase } from "./open_database.ts";
import { quoteIdentifier } from "../sql/quote.ts";
import { type Bindable, bindable, type SqlParameter } from "../sql/sql_value.ts";
import { systemClock } from "../core/clock.ts";
import { arrayRows, type Bounded, BoundedRows, noteSize } from "./bounded_rows.ts";
import { ENGINE_PRAGMAS, noteCompiled } from "./engine_limits.ts";
import { RowsReadEstimator } from "./rows_read/rows_read.ts";
import { closedModules, Guard, type Level, type RunningLevel } from "./guard.ts";
import { type EngineValue, isIntegerOutOfRange, type ResultBounds, rowsJson } from "./result_json.ts";

/** Prepared statements cached for each connection. */
const CACHED_STATEMENTS = 128;

interface Prepared extends Bounded {
  readonly statement: StatementSync;
  readonly columnsJson: string;
  /** Reads integers as bigint, which is slower. A read switches to it when a number is too small; a write cannot run again. */
  bigIntegers: boolean;
}

/** The result of one statement. */
export interface RunResult {
  /** `{"columns":[…],"rows":[…]`; the caller adds the closing brace. */
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
  #figures: StatementSync | null = null;

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

  /** Forgets the tenants' prepared statements: their column names are valid for one schema only. */
  schemaChanged(): void {
    this.#prepared.clear();
    this.#rowsRead?.schemaChanged();
  }

  /** Rows read by a statement that has just run on this connection (`meta.rowsReadBasis` is `plan`). */
  rowsRead(sql: string, rowsReturned: number, rowsWritten: number): number {
    this.#rowsRead ??= new RowsReadEstimator(this.database, systemClock);
    return this.#rowsRead.rowsRead(sql, rowsReturned, rowsWritten);
  }

  /** Compiles a tenant statement at a level without running it. Throws what the engine throws. */
  compile(level: Level, sql: string): void {
    this.#atLevel(level, () => this.database.prepare(sql));
    noteCompiled(sql);
  }

  /** Runs one tenant statement at a level, a write only once. Throws what the engine throws, or `ResultTooLarge`. */
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
    // A schema change earlier in the call may have invalidated the column names of compiled statements.
    if (level === "schema") this.#prepared.clear();
    return result;
  }

  /** Makes what runs a tenant's write once for each of many values; null where the statement returns rows. */
  repeated(level: RunningLevel, sql: string): ((params: readonly SqlParameter[]) => void) | null {
    const { statement, columns } = this.#atLevel(level, () => this.#prepare(level, sql));
    if (columns.length > 0) return null;
    return (params) => {
      this.#atLevel(level, () => statement.get(...bindable(params)));
    };
  }

  /** Rows that the connection has changed, those that the last write itself has changed, and the rowid of its last row. */
  runFigures(): { readonly total: number; readonly own: number; readonly rowid: bigint } {
    const [total, own, rowid] = arrayRow((this.#figures ??= this.#prepareFigures()).get()) ?? [];
    return { total: Number(total), own: Number(own), rowid: typeof rowid === "bigint" ? rowid : 0n };
  }

  /** Reads the first rows of a statement whose work is done before its first row comes, as with RETURNING. */
  firstRows(level: Level, sql: string, params: readonly SqlParameter[], count: number): EngineValue[][] {
    const start = () => this.#prepare(level, sql).statement.iterate(...bindable(params));
    return this.#atLevel(level, () => arrayRows(start().take(count).toArray()));
  }

  close(): void {
    this.#prepared.clear();
    this.#internal.clear();
    this.#figures = null;
    this.database.close();
  }

  /**
   * A virtual table compiles statements of its own when it is first touched; those of `rtree` also write its shadow tables.
   * The guard refuses such statements to a read, so they are compiled here, and then the read is tried again.
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
    // Where there is no bounded form, the service bounds the statement by watching this process's memory.
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
      // Inserting again moves the key to the end, so that the first key is the least recently used.
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

  #prepareFigures(): StatementSync {
    const statement = this.database.prepare("SELECT total_changes(), changes(), last_insert_rowid()");
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
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

function moduleNames(database: DatabaseSync): string[] {
  const statement = database.prepare("PRAGMA module_list");
  statement.setReturnArrays(true);
  return arrayRows(statement.all()).map((row) => String(row[0]));
}

/** Guarantee: with `setReturnArrays(true)` each row is an array of engine values; the declared type does not say so. */
function arrayRow(row: unknown): EngineValue[] | undefined {
  return Array.isArray(row) ? row : undefined;
}
