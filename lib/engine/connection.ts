// One hardened SQLite connection: its limits, its guard and its cache of prepared statements.
import type { RowForm } from "../sql/words/row_form.ts";
import type {} from "./node_sqlite.d.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { moduleNames, openDatabase } from "./open_database.ts";
import { quoteIdentifier } from "../sql/words/quote.ts";
import { bindable, type EngineValue, type SqlParameter } from "../sql/words/sql_value.ts";
import { systemClock } from "../core/clock.ts";
import { arrayRow, arrayRows, arrayStatement } from "./array_rows.ts";
import { BoundedRows, noteSize } from "./bounded_rows.ts";
import { ChangeFigures } from "./change_figures.ts";
import { makingRoom, noteClosed, noteCompiled, noteKeeping, withMemory } from "./compiled_texts.ts";
import { ENGINE_PRAGMAS } from "./engine_limits.ts";
import { type Prepared, PreparedStatements } from "./prepared_statements.ts";
import { ReadRows } from "./rows_read/read_rows.ts";
import type { SchemaFacts } from "./schema_facts.ts";
import { closedModules, Guard, type Level, type RunningLevel } from "./guard.ts";
import { isIntegerOutOfRange, type ResultBounds, rowsJson } from "./result_json.ts";
import { noChanges, tellsChanges, typedColumns, typedResultJson, typedRows } from "./typed_result.ts";

/** The result of one statement. */
export interface RunResult {
  /** `{"columns":[…],"rows":[…]`, or in the typed form `{"cols":[…],…`; the caller adds the closing brace. */
  readonly json: string;
  readonly rowCount: number;
}

/** One guarded connection. */
export class Connection {
  readonly database: DatabaseSync;
  readonly guard: Guard;
  readonly figures: ChangeFigures;
  readonly #bounded: BoundedRows;
  readonly #prepared: PreparedStatements;
  readonly #internal = new Map<string, StatementSync>();
  readonly #readRows: ReadRows;
  /**
   * What databases with the same schema know together; null: this one learns for itself. Set only while a transaction is
   * open that sees that schema and cannot change it.
   */
  facts: SchemaFacts | null = null;

  constructor(path: string, { readOnly = false }: { readonly readOnly?: boolean } = {}) {
    this.database = openDatabase(path, { readOnly });
    this.database.exec(ENGINE_PRAGMAS);
    this.guard = new Guard(modulesClosed ??= closedModules(moduleNames(this.database)));
    this.#bounded = new BoundedRows(this.database, this.guard);
    this.#prepared = new PreparedStatements(this.database);
    this.figures = new ChangeFigures(this.database);
    this.#readRows = new ReadRows(this.database, systemClock);
    noteKeeping(this.database, () => this.#prepared.clear());
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

  /** Runs the service's own SQL that returns no row. */
  internalRun(sql: string, ...params: (string | number | bigint | null)[]): void {
    // `run` takes three times as long, for figures that nobody reads.
    this.#internalStatement(sql).get(...params);
  }

  /** The same; returns how many rows it changed. */
  internalChanges(sql: string, ...params: (string | number | bigint | null)[]): number {
    return Number(this.#internalStatement(sql).run(...params).changes);
  }

  /** Forgets the tenants' prepared statements: their column names are valid for one schema only. */
  schemaChanged(): void {
    this.#prepared.clear();
    this.#readRows.schemaChanged();
  }

  /** The statements of a call begin to run. `atMs`: on the monotonic clock. */
  callBegins(atMs: number): void {
    this.#readRows.callBegins(atMs);
  }

  /** Rows read by a statement that has just run on this connection (`meta.rowsReadBasis` is `plan`). */
  rowsRead(sql: string, rowsReturned: number, rowsWritten: number): number {
    return this.#readRows.of({ sql, rowsReturned, rowsWritten }, this.facts?.estimates ?? null);
  }

  /** Before a tenant's statement whose `rowsRead` will be asked for. */
  plan(level: RunningLevel, sql: string): void {
    if (level === "write") this.#readRows.plan(sql, this.facts?.estimates ?? null);
  }

  /** Compiles a tenant statement at a level without running it. Throws what the engine throws. */
  compile(level: Level, sql: string): void {
    this.#atLevel(level, () => withMemory(() => this.database.prepare(sql)));
    noteCompiled(this.database, sql);
  }

  /** Runs one tenant statement at a level, a write only once. Throws what the engine throws, or `ResultTooLarge`. */
  run(
    level: RunningLevel,
    sql: string,
    params: readonly SqlParameter[],
    bounds: ResultBounds,
    rowForm: RowForm,
  ): RunResult {
    const { facts } = this;
    const read = (prepared: Prepared, values: EngineValue[]) =>
      rowForm.typed
        ? this.#readTyped(prepared, values, bounds, tellsChanges(level, sql))
        : this.#read(prepared, values, bounds, rowForm);
    const once = () =>
      this.#atLevel(level, () => {
        const prepared = this.#prepared.of(level, sql, facts);
        const values = bindable(params);
        try {
          return read(prepared, values);
        } catch (error) {
          if (prepared.bigIntegers || !isIntegerOutOfRange(error)) throw error;
          prepared.bigIntegers = true;
          return read(prepared, values);
        }
      });
    if (level === "read") {
      const result = withMemory(() => this.#withVirtualTables(once));
      if (facts !== null) this.#prepared.share(sql, facts);
      return result;
    }
    const result = makingRoom(once);
    // A schema change earlier in the call may have invalidated the column names of compiled statements.
    if (level === "schema") this.#prepared.clear();
    return result;
  }

  /** Makes what runs a tenant's write once for each of many values; null where the statement returns rows. */
  repeated(level: RunningLevel, sql: string): ((params: readonly SqlParameter[]) => void) | null {
    // The guard looks at what is compiled, so that happens at the level too.
    const statement = this.#atLevel(level, () => {
      const prepared = this.#prepared.of(level, sql, null);
      return prepared.columns.length > 0 ? null : prepared.statement();
    });
    if (statement === null) return null;
    return (params) => {
      this.#atLevel(level, () => statement.get(...bindable(params)));
    };
  }

  /** Reads the first rows of a statement whose work is done before its first row comes, as with RETURNING. */
  firstRows(level: Level, sql: string, params: readonly SqlParameter[], count: number): EngineValue[][] {
    const start = () => this.#prepared.of(level, sql, null).statement().iterate(...bindable(params));
    return this.#atLevel(level, () => arrayRows(start().take(count).toArray()));
  }

  close(): void {
    this.#prepared.clear();
    this.#internal.clear();
    this.figures.forget();
    this.database.close();
    noteClosed(this.database);
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
    values: EngineValue[],
    bounds: ResultBounds,
    rowForm: RowForm,
  ): RunResult {
    const big = rowForm.integersAsStrings || prepared.bigIntegers;
    if (prepared.columns.length === 0) {
      // Costs half of `run`, whose figures nobody reads.
      prepared.statement().get(...values);
      return { json: '{"columns":[],"rows":[]', rowCount: 0 };
    }
    const { rows, forms } = this.#rows(prepared, values, bounds, big);
    const json = rowsJson(rows, bounds, { rowForm, big });
    if (forms) noteSize(forms, json.length, bounds);
    return { json: `{"columns":${prepared.columnsJson},"rows":${json}`, rowCount: rows.length };
  }

  #readTyped(prepared: Prepared, values: EngineValue[], bounds: ResultBounds, writes: boolean): RunResult {
    const returns = prepared.columns.length > 0;
    if (!returns) prepared.statement().get(...values);
    const { rows, forms } = returns ? this.#rows(prepared, values, bounds, true) : { rows: [], forms: null };
    const text = typedRows(rows, bounds);
    if (forms) noteSize(forms, text.length, bounds);
    const cols = returns ? prepared.typedColumns ??= typedColumns(prepared.statement().columns()) : "[]";
    const figures = writes ? this.figures.all() : null;
    const changes = figures ? { changes: figures.own, rowid: figures.rowid } : noChanges;
    return { json: typedResultJson(cols, text, changes), rowCount: rows.length };
  }

  /** Where there is no bounded form, the service bounds the statement by watching this process's memory. */
  #rows(prepared: Prepared, values: EngineValue[], bounds: ResultBounds, big: boolean) {
    const forms = this.#bounded.formsOf(prepared, bounds);
    const rows = forms
      ? this.#bounded.read(forms, values, bounds, big)
      : readAll(prepared.statement(), values, big);
    return { rows, forms };
  }

  #internalStatement(sql: string): StatementSync {
    let statement = this.#internal.get(sql);
    if (!statement) {
      statement = withMemory(() => arrayStatement(this.database, sql));
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

function readAll(statement: StatementSync, values: readonly EngineValue[], big: boolean): EngineValue[][] {
  statement.setReadBigInts(big);
  return arrayRows(statement.all(...values));
}

/** Every new connection has the modules of this engine build. */
let modulesClosed: ReadonlySet<string> | null = null;
