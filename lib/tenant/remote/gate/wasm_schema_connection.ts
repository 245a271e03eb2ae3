// The schema of a tenant in SQLite's own WebAssembly build, for runtimes whose `node:sqlite` has no authorizer. It is loaded
// without reading any file: the binary is a module of the package, like its code.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { Database, Sqlite3Static, SqlValue } from "@sqlite.org/sqlite-wasm";
import { once } from "../../../core/once.ts";
import { ENGINE_LIMITS, ENGINE_PRAGMAS, SMALL_PAGES } from "../../../engine/engine_limits.ts";
import { closedModules, Guard, type Level } from "../../../engine/guard.ts";
import type { TypedColumn } from "../../../engine/typed_result.ts";
import { allowedModules } from "../../../sql/words/functions.ts";
import type { InternalParameter } from "../../../engine/compile_connection.ts";
import type { OpenSchemaConnection, SchemaConnection } from "./schema_connection.ts";

/**
 * This version bounds by it what compiles, and not only what runs. Half of the depth at which the stack under the
 * authorizer ends, after which the engine would go on for minutes.
 */
const TRIGGER_DEPTH = 250;

/** A table that other builds have and refuse. */
const MISSING = /^no such table: (?:main\.)?(fts3tokenize)$/i;

/** What the engine has said, in the form in which `node:sqlite` throws it. */
class WasmSqliteError extends Error {
  override readonly name = "SqliteError";

  constructor(message: string, readonly errcode: number) {
    super(message);
  }
}

/** One instance of the engine, shared by its connections. */
interface WasmInstance {
  readonly sqlite3: Sqlite3Static;
  /** Closes the databases of connections that nobody holds any more. */
  readonly forgotten: FinalizationRegistry<Database>;
  /** It was cut off in the middle of its work, and nothing in its memory is to be trusted. */
  broken: boolean;
}

class WasmSchemaConnection implements SchemaConnection {
  readonly guard: Guard;
  readonly #database: Database;

  constructor(private readonly instance: WasmInstance) {
    const { sqlite3, forgotten } = instance;
    this.#database = openDatabase(sqlite3);
    const modules = this.internalRows("PRAGMA module_list").map(([name]) => String(name));
    this.guard = new Guard(closedModules(modules));
    setAuthorizer(sqlite3, this.#database, this.guard.authorize);
    forgotten.register(this, this.#database, this);
  }

  get broken(): boolean {
    return this.instance.broken;
  }

  compile(level: Level, sql: string): void {
    this.#atLevel(level, () => this.columns(sql));
  }

  internalRow(sql: string, ...params: InternalParameter[]): EngineValue[] | undefined {
    return this.internalRows(sql, ...params)[0];
  }

  internalRows(sql: string, ...params: InternalParameter[]): EngineValue[][] {
    return this.#thrown(() => {
      const statement = this.#database.prepare(sql);
      try {
        if (params.length > 0) statement.bind(params);
        const rows: EngineValue[][] = [];
        while (statement.step()) {
          const row: SqlValue[] = [];
          statement.get(row);
          rows.push(engineValues(row));
        }
        return rows;
      } finally {
        statement.finalize();
      }
    });
  }

  exec(sql: string): void {
    this.#thrown(() => this.#database.exec(sql));
  }

  writeCatalogue(may: boolean): void {
    const { capi } = this.instance.sqlite3;
    capi.sqlite3_db_config(pointerOf(this.#database), capi.SQLITE_DBCONFIG_DEFENSIVE, may ? 0 : 1, 0);
  }

  columns(sql: string): TypedColumn[] {
    return this.#thrown(() => {
      const statement = this.#database.prepare(sql);
      try {
        const names = statement.columnCount === 0 ? [] : statement.getColumnNames();
        const { capi } = this.instance.sqlite3;
        return names.map((name, at) => ({ name, type: capi.sqlite3_column_decltype(statement, at) || null }));
      } finally {
        statement.finalize();
      }
    });
  }

  change(sql: string): void {
    this.#atLevel("schema", () => this.internalRows(sql));
  }

  close(): void {
    const { forgotten, broken } = this.instance;
    forgotten.unregister(this);
    if (!broken) this.#database.close();
  }

  #atLevel(level: Level, work: () => void): void {
    const { guard } = this;
    guard.denial = null;
    guard.level = level;
    try {
      work();
    } finally {
      guard.level = "internal";
    }
  }

  #thrown<T>(work: () => T): T {
    const { sqlite3: { capi, SQLite3Error } } = this.instance;
    try {
      return work();
    } catch (error) {
      if (error instanceof SQLite3Error) {
        const pointer = pointerOf(this.#database);
        const message = capi.sqlite3_errmsg(pointer);
        const missing = MISSING.exec(message)?.[1];
        if (missing !== undefined) this.guard.denial ??= `The virtual table ${missing}`;
        throw new WasmSqliteError(message, capi.sqlite3_extended_errcode(pointer));
      }
      // Its stack is used up, or it read outside of its memory.
      this.instance.broken = true;
      throw error;
    }
  }
}

/** As hard as the embedded engine's connection. */
function openDatabase({ capi, oo1, wasm }: Sqlite3Static): Database {
  const database = new oo1.DB(":memory:");
  const pointer = pointerOf(database);
  for (
    const [option, value] of [
      [capi.SQLITE_DBCONFIG_ENABLE_FKEY, 1],
      [capi.SQLITE_DBCONFIG_DQS_DML, 0],
      [capi.SQLITE_DBCONFIG_DQS_DDL, 0],
      [capi.SQLITE_DBCONFIG_DEFENSIVE, 1],
    ] as const
  ) capi.sqlite3_db_config(pointer, option, value, 0);
  for (
    const [limit, value] of [
      [capi.SQLITE_LIMIT_LENGTH, ENGINE_LIMITS.length],
      [capi.SQLITE_LIMIT_SQL_LENGTH, ENGINE_LIMITS.sqlLength],
      [capi.SQLITE_LIMIT_COLUMN, ENGINE_LIMITS.column],
      [capi.SQLITE_LIMIT_EXPR_DEPTH, ENGINE_LIMITS.exprDepth],
      [capi.SQLITE_LIMIT_COMPOUND_SELECT, ENGINE_LIMITS.compoundSelect],
      [capi.SQLITE_LIMIT_VDBE_OP, ENGINE_LIMITS.vdbeOp],
      [capi.SQLITE_LIMIT_FUNCTION_ARG, ENGINE_LIMITS.functionArg],
      [capi.SQLITE_LIMIT_ATTACHED, ENGINE_LIMITS.attach],
      [capi.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, ENGINE_LIMITS.likePatternLength],
      [capi.SQLITE_LIMIT_VARIABLE_NUMBER, ENGINE_LIMITS.variableNumber],
      [capi.SQLITE_LIMIT_TRIGGER_DEPTH, TRIGGER_DEPTH],
    ] as const
  ) capi.sqlite3_limit(pointer, limit, value);
  keepModules({ capi, wasm }, pointer);
  database.exec(`${ENGINE_PRAGMAS}; PRAGMA temp_store=MEMORY; ${SMALL_PAGES}`);
  return database;
}

/** This build brings modules that show the engine's inside; for tenants they are not there at all. */
function keepModules({ capi, wasm }: Pick<Sqlite3Static, "capi" | "wasm">, database: number): void {
  wasm.scopedAllocCall(() => {
    const names = [...allowedModules, "fts5vocab", "dbstat"];
    capi.sqlite3_drop_modules(database, wasm.scopedAllocMainArgv(names));
  });
}

/** Holds the guard alone: what it held of the connection would never be forgotten. */
function setAuthorizer({ capi }: Sqlite3Static, database: Database, authorize: Guard["authorize"]): void {
  const text = (value: string | 0) => value === 0 ? null : value;
  capi.sqlite3_set_authorizer(
    pointerOf(database),
    (_, action, ...names) => {
      const [first, second, schema, source] = names.map(text);
      return authorize(action, first ?? null, second ?? null, schema, source);
    },
    0,
  );
}

function pointerOf({ pointer }: Database): number {
  if (pointer === undefined) throw new TypeError("the connection is closed");
  return pointer;
}

function engineValues(row: readonly unknown[]): EngineValue[] {
  return row.map((value) => {
    if (value === null || value instanceof Uint8Array) return value;
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "string") return value;
    throw new TypeError("the engine returned what is no value of SQLite");
  });
}

/** Bytes of the memory that all connections share. */
export async function wasmBytes(): Promise<number> {
  return (await loaded()).sqlite3.wasm.heap8u().byteLength;
}

let loaded = once(load);

/** One instance a process, and another one once that is broken. */
export async function wasmEngine(): Promise<OpenSchemaConnection> {
  let instance = await loaded();
  if (instance.broken) {
    loaded = once(load);
    instance = await loaded();
  }
  return () => new WasmSchemaConnection(instance);
}

async function load(): Promise<WasmInstance> {
  const [{ default: wasmBinary }, { default: init }] = await Promise.all([
    import("@sqlite.org/sqlite-wasm/sqlite3.wasm", { with: { type: "bytes" } }),
    import("@sqlite.org/sqlite-wasm"),
  ]);
  // Emscripten takes the binary as an option, which the package's types leave out.
  const start: (options: { readonly wasmBinary: Uint8Array }) => Promise<Sqlite3Static> = init;
  const sqlite3 = await start({ wasmBinary });
  // It would write texts of statements to the console.
  const silent = () => {};
  Object.assign(sqlite3.config, { debug: silent, log: silent, warn: silent, error: silent });
  const instance: WasmInstance = {
    sqlite3,
    // The garbage collector knows nothing of the memory behind a connection.
    forgotten: new FinalizationRegistry<Database>((database) => {
      if (!instance.broken) database.close();
    }),
    broken: false,
  };
  return instance;
}
