// A connection that runs nothing but look-ups, in the process that serves requests: nobody could stop anything else
// there. It only reads, refuses whatever has not been proven to end, and never learns of a long value.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type RowForm } from "../sql/words/row_form.ts";
import { bindable, type SqlParameter } from "../sql/words/sql_value.ts";
import { arrayRows, arrayStatement } from "./array_rows.ts";
import { closedModules, Guard } from "./guard.ts";
import { programOf, rowLimitOf } from "./key_lookup.ts";
import { moduleNames, openDatabase } from "./open_database.ts";
import { isIntegerOutOfRange, type ResultBounds, rowsJson } from "./result_json.ts";
import { noChanges, typedColumns, typedResultJson, typedRows } from "./typed_result.ts";

/** Bytes of the longest value, and of one in a list: all that a look-up can have to read. Where a row has a longer one, it fails. */
const MAX_VALUE_BYTES = 64 * 1024;
const LIST_VALUE_BYTES = 8 * 1024;
/** The answer of an authorizer that refuses. */
const DENY = 1;

/** No bound of memory is set: it would be one of the whole process. */
const PRAGMAS =
  "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; " +
  "PRAGMA query_only=ON; PRAGMA cache_size=-16";

/** The result of a look-up. */
export interface LookupResult {
  /** Without its closing brace. */
  readonly json: string;
  readonly rows: number;
}

/** The columns of a look-up's answer, as its plain and its typed form write them. */
export interface LookupColumns {
  readonly columnsJson: string;
  readonly typedColumnsJson: string;
}

/** A look-up that has been proven to end, under the schema that it was compiled with. */
export interface Lookup {
  readonly statement: StatementSync;
  readonly columns: LookupColumns;
  readonly isList: boolean;
  /** Whether it reads integers as bigint. */
  big: boolean;
}

/** Bytes that a character takes at most, measured: of names, columns and literals, and where it may be of an expression. */
const PLAIN_BYTES = 18;
const EXPRESSION_BYTES = 72;
/** What may be kept as a tree beside the columns: generated ones, and defaults and indexes of expressions. CHECK is not. */
const EXPRESSION = /\bAS\b|\bWHERE\b|\bDEFAULT\s*(?:[(/]|--)/i;

function bytesOf(type: string, sql: string): number {
  const isIndex = type === "index" && sql.indexOf("(") === sql.lastIndexOf("(");
  const isPlain = (isIndex || type === "table") && !EXPRESSION.test(sql);
  return sql.length * (isPlain ? PLAIN_BYTES : EXPRESSION_BYTES);
}

/** The same for every connection: they have one build of the engine. */
let modulesClosed: ReadonlySet<string> | null = null;

/** Runs look-ups; whoever extends it says in what. */
export abstract class LookupReader {
  protected database: DatabaseSync;
  readonly #guard: Guard;
  #compiles = true;

  /** Throws what the engine throws. */
  constructor(private readonly path: string, private readonly options: { readonly readOnly: boolean }) {
    this.database = this.#open();
    this.#guard = new Guard(modulesClosed ??= closedModules(moduleNames(this.database)));
    this.#authorize();
  }

  #open(): DatabaseSync {
    const { path, options: { readOnly } } = this;
    const database = openDatabase(path, { readOnly, busyTimeoutMs: 0, valueBytes: MAX_VALUE_BYTES });
    database.exec(PRAGMAS);
    return database;
  }

  #authorize(): void {
    // A statement that the engine compiles again, because the schema has changed, has not been proven.
    this.database.setAuthorizer((...asked) => this.#compiles ? this.#guard.authorize(...asked) : DENY);
    this.#compiles = false;
  }

  /** Closes the connection, whatever its state, and opens another one in its place. Throws what the engine throws. */
  protected openAnew(): void {
    this.database.close();
    this.database = this.#open();
    this.#authorize();
  }

  /**
   * Compiles and proves a read. `columns`: those that it had under the same schema before. Throws what the engine throws, or
   * where the read cannot be proven.
   */
  protected prove(sql: string, columns: LookupColumns | null): Lookup {
    return this.own(() => {
      this.#guard.level = "read";
      const statement = arrayStatement(this.database, sql);
      this.#guard.level = "internal";
      const limit = rowLimitOf(programOf(this.database, sql));
      if (limit === null || limit.parameter !== null) throw new TypeError("the statement may not end");
      return { statement, columns: columns ?? columnsOf(statement), isList: limit.most > 1, big: false };
    });
  }

  /** Throws what the engine throws, or `ResultTooLarge`. */
  read(
    lookup: Lookup,
    params: readonly SqlParameter[],
    bounds: ResultBounds,
    rowForm: RowForm,
  ): LookupResult {
    if (!lookup.isList) return readForm(lookup, params, bounds, rowForm);
    const { limits } = this.database;
    limits.length = LIST_VALUE_BYTES;
    try {
      return readForm(lookup, params, bounds, rowForm);
    } finally {
      limits.length = MAX_VALUE_BYTES;
    }
  }

  close(): void {
    this.database.close();
  }

  /** Runs the service's own SQL, which the engine may compile. */
  protected own<T>(run: () => T): T {
    this.#guard.level = "internal";
    this.#compiles = true;
    try {
      return run();
    } finally {
      this.#guard.level = "internal";
      this.#compiles = false;
    }
  }
}

/** A connection to a tenant's file. */
export class LookupConnection extends LookupReader {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  /** Throws what the engine throws. */
  constructor(path: string) {
    super(path, { readOnly: true });
    [this.#begin, this.#commit] = this.own(() =>
      [this.database.prepare("BEGIN"), this.database.prepare("COMMIT")] as const
    );
  }

  /** Compiles and proves a read (`prove`); null where the file has another schema. */
  compile(sql: string, schemaVersion: number): Lookup | null {
    const isShared = this.database.isTransaction;
    if (!isShared) this.begin();
    try {
      // Asked first, because compiling anything else reads the whole schema.
      const version = this.own(() =>
        this.database.prepare("PRAGMA schema_version").get()?.["schema_version"]
      );
      return version === schemaVersion ? this.prove(sql, null) : null;
    } finally {
      if (!isShared) this.end();
    }
  }

  /** Bytes of the schema, which the connection holds parsed once it has compiled something: at least as many as it takes. */
  schemaBytes(): number {
    return this.own(() =>
      this.database.prepare("SELECT type, sql FROM sqlite_schema").all()
        .reduce((sum, { type, sql }) => sum + bytesOf(String(type), String(sql ?? "")), 0)
    );
  }

  /** Begins a transaction: the reads in it share one look at the file and its log. */
  begin(): void {
    // `run` takes three times as long, and makes an object of 64 bytes, which the runtime (2.9) allocates among the old ones.
    this.#begin.get();
  }

  /** Ends it, where a failure has not. */
  end(): void {
    if (this.database.isTransaction) this.#commit.get();
  }
}

/** A database in memory that is a copy of one file after the other: no file is opened by the engine, and none closed. */
export class LookupImages extends LookupReader {
  constructor() {
    super(":memory:", { readOnly: false });
  }

  /** Compiles and proves a read (`prove`) in a copy of the file whose bytes these are; those of the copy before end. */
  compile(image: Uint8Array, sql: string, columns: LookupColumns | null): Lookup {
    try {
      this.own(() => this.database.deserialize(image));
      return this.prove(sql, columns);
    } catch (error) {
      // Before it takes another copy the engine reads the schema of this one, and fails again where that is damaged.
      this.openAnew();
      throw error;
    }
  }
}

function columnsOf(statement: StatementSync): LookupColumns {
  const columns = statement.columns().map(({ name, type }) => ({ name, type }));
  return {
    columnsJson: JSON.stringify(columns.map(({ name }) => name)),
    typedColumnsJson: typedColumns(columns),
  };
}

function readForm(
  lookup: Lookup,
  params: readonly SqlParameter[],
  bounds: ResultBounds,
  rowForm: RowForm,
): LookupResult {
  const big = rowForm.typed === true || rowForm.integersAsStrings;
  try {
    return resultOf(lookup, params, bounds, { rowForm, big });
  } catch (error) {
    if (big || !isIntegerOutOfRange(error)) throw error;
    return resultOf(lookup, params, bounds, { rowForm, big: true });
  }
}

function resultOf(
  lookup: Lookup,
  params: readonly SqlParameter[],
  bounds: ResultBounds,
  reading: { readonly rowForm: RowForm; readonly big: boolean },
): LookupResult {
  const { statement, columns } = lookup;
  if (lookup.big !== reading.big) statement.setReadBigInts(lookup.big = reading.big);
  const rows = arrayRows(statement.all(...bindable(params)));
  const json = reading.rowForm.typed
    ? typedResultJson(columns.typedColumnsJson, typedRows(rows, bounds), noChanges)
    : `{"columns":${columns.columnsJson},"rows":${rowsJson(rows, bounds, reading)}`;
  return { json, rows: rows.length };
}
