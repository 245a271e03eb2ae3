// The engine's authorizer, with default deny, on every tenant connection. It records what an inspected statement would
// touch, and refuses what the connection's present level does not allow, also when the engine recompiles a cached
// statement by itself.
import { RESULT_BYTES } from "./bounded_select.ts";
import { allowedFunctions, allowedModules, allowedTableFunctions } from "../sql/words/functions.ts";
import { pragmaTable } from "../sql/grammar/pragmas.ts";
import { NOTE_DIGEST, NOTE_NAME } from "./footprint/row_notes.ts";
import { isServiceTable, readableServiceTables } from "../sql/words/service_tables.ts";

/** Action codes of SQLite's authorizer (sqlite.org/c3ref/c_alter_table.html), part of its stable interface. */
const actions = {
  CREATE_INDEX: 1,
  CREATE_TABLE: 2,
  CREATE_TRIGGER: 7,
  CREATE_VIEW: 8,
  DELETE: 9,
  DROP_INDEX: 10,
  DROP_TABLE: 11,
  DROP_TRIGGER: 16,
  DROP_VIEW: 17,
  INSERT: 18,
  PRAGMA: 19,
  READ: 20,
  SELECT: 21,
  UPDATE: 23,
  ALTER_TABLE: 26,
  REINDEX: 27,
  ANALYZE: 28,
  CREATE_VTABLE: 29,
  DROP_VTABLE: 30,
  FUNCTION: 31,
  RECURSIVE: 33,
} as const;

const AUTHORIZE_OK = 0;
const AUTHORIZE_DENY = 1;
/** Makes the engine skip a table or an index without an error (sqlite.org/c3ref/c_deny.html). */
const AUTHORIZE_IGNORE = 2;

/** The engine's names for its catalogue, and the name that answers use. */
const catalogues: ReadonlyMap<string, string> = new Map([
  ["sqlite_master", "sqlite_schema"],
  ["sqlite_temp_master", "sqlite_temp_schema"],
]);

/** What a connection or a statement may do; each level includes the ones before it. */
export type Level = "read" | "write" | "schema";

/** What the running SQL may do; `internal` is the service's own SQL. */
export type RunningLevel = Level | "internal";

/** Tables and columns touched, as the engine names them. */
export class Recorder {
  readonly tablesRead = new Set<string>();
  readonly columnsRead = new Set<string>();
  readonly tablesWritten = new Set<string>();
  readonly columnsWritten = new Set<string>();
  /** `insert orders`: what happens to which table. */
  readonly actions = new Set<string>();
  readonly functions = new Set<string>();
  /** Triggers and views that the statement uses, lower case. */
  readonly sources = new Set<string>();
  /** Tables that ANALYZE measures and indexes that REINDEX rebuilds; none of their rows change. */
  readonly analyzed = new Set<string>();
  readonly reindexed = new Set<string>();

  wrote(
    action: "insert" | "update" | "delete" | "schema",
    table: string | null,
    column: string | null = null,
  ): void {
    if (table === null || table.toLowerCase().startsWith("sqlite_")) return;
    this.tablesWritten.add(table);
    this.actions.add(`${action} ${table}`);
    if (column !== null) this.columnsWritten.add(`${table}.${column}`);
  }

  read(table: string | null, column: string | null): void {
    if (table === null || table === "") return;
    const name = catalogues.get(table.toLowerCase()) ?? table;
    this.tablesRead.add(name);
    if (column) this.columnsRead.add(`${name}.${column}`);
  }
}

/** The guard of one connection. `denial` says why the last compile was refused. */
export class Guard {
  level: RunningLevel = "internal";
  recorder: Recorder | null = null;
  denial: string | null = null;
  /** The service's own triggers record the call's row changes. */
  watched = false;
  /** The service compiles or runs its own form of a tenant's statement, which calls its own function. */
  bounding = false;

  /** `closedModules`: names of virtual-table modules of this engine build that tenants may not use. */
  constructor(private readonly closedModules: ReadonlySet<string>) {}

  /** The callback for `setAuthorizer`. */
  readonly authorize = (
    action: number,
    first: string | null,
    second: string | null,
    _schema: string | null = null,
    source: string | null = null,
  ): number => {
    if (this.level === "internal") return AUTHORIZE_OK;
    if (source !== null) this.recorder?.sources.add(source.toLowerCase());
    // ANALYZE would copy keys of the service's rows into tables that tenants read.
    const maintains = action === actions.ANALYZE || action === actions.REINDEX;
    if (maintains && this.level === "schema" && isServiceTable(first ?? "")) return AUTHORIZE_IGNORE;
    // A name in FROM may imitate one of those triggers, so only the triggers' own functions are allowed here.
    const takesNote = this.watched && action === actions.FUNCTION && source?.startsWith(NOTE_NAME) === true;
    if (takesNote && (second === NOTE_NAME || second === NOTE_DIGEST)) return AUTHORIZE_OK;
    const refusal = this.#refusal(action, first, second);
    if (refusal === null) return AUTHORIZE_OK;
    this.denial ??= refusal;
    return AUTHORIZE_DENY;
  };

  #refusal(action: number, first: string | null, second: string | null): string | null {
    switch (action) {
      case actions.SELECT:
      case actions.RECURSIVE:
        return null;
      case actions.READ:
        return this.#read(first ?? "", second);
      case actions.FUNCTION: {
        const name = (second ?? "").toLowerCase();
        if (this.bounding && name === RESULT_BYTES) return null;
        this.recorder?.functions.add(name);
        return allowedFunctions.has(name) ? null : `The function ${second}`;
      }
      case actions.INSERT:
        this.recorder?.wrote("insert", first);
        return this.#write(first ?? "");
      case actions.DELETE:
        this.recorder?.wrote("delete", first);
        return this.#write(first ?? "");
      case actions.UPDATE:
        this.recorder?.wrote("update", first, second);
        return this.#write(first ?? "");
      case actions.PRAGMA:
        return this.#pragma((first ?? "").toLowerCase(), second);
      default:
        return this.#schema(action, first ?? "", second ?? "");
    }
  }

  #read(table: string, column: string | null): string | null {
    const lower = table.toLowerCase();
    if (isServiceTable(lower) && !readableServiceTables.has(lower)) return `Reading ${table}`;
    if (this.closedModules.has(lower)) return `The virtual table ${table}`;
    this.recorder?.read(table, column);
    return null;
  }

  #write(table: string): string | null {
    if (isServiceTable(table)) return `Writing ${table}`;
    if (table.toLowerCase().startsWith("sqlite_")) return this.level === "schema" ? null : `Writing ${table}`;
    return this.level === "read" ? "Writing on a connection that only reads" : null;
  }

  #pragma(name: string, value: string | null): string | null {
    // Full-text search asks for the data version by itself.
    if (name === "data_version" && value === null) return null;
    const row = pragmaTable.get(name);
    if (!row) return `PRAGMA ${name}`;
    if (value === null || row.argument !== "none") return null;
    return row.settable && this.level === "schema" ? null : `Setting PRAGMA ${name}`;
  }

  #schema(action: number, first: string, second: string): string | null {
    const row = schemaActions.get(action);
    if (!row) return "An action that tenants do not have";
    if (this.level !== "schema") return "Changing the schema";
    const name = row.object === "first" ? first : second;
    if (isServiceTable(first) || isServiceTable(second)) {
      return `Changing ${isServiceTable(first) ? first : second}`;
    }
    if (action === actions.CREATE_VTABLE && !allowedModules.has(second.toLowerCase())) {
      return `The virtual-table module ${second}`;
    }
    if (action === actions.ANALYZE) this.recorder?.analyzed.add(name);
    else if (action === actions.REINDEX) this.recorder?.reindexed.add(name);
    else this.recorder?.wrote("schema", name);
    return null;
  }
}

/** The schema actions that tenants may use, and which argument names the table or view that changes. */
const schemaActions: ReadonlyMap<number, { readonly object: "first" | "second" }> = new Map<
  number,
  { object: "first" | "second" }
>([
  [actions.CREATE_TABLE, { object: "first" }],
  [actions.CREATE_INDEX, { object: "second" }],
  [actions.CREATE_VIEW, { object: "first" }],
  [actions.CREATE_TRIGGER, { object: "second" }],
  [actions.CREATE_VTABLE, { object: "first" }],
  [actions.DROP_TABLE, { object: "first" }],
  [actions.DROP_INDEX, { object: "second" }],
  [actions.DROP_VIEW, { object: "first" }],
  [actions.DROP_TRIGGER, { object: "second" }],
  [actions.DROP_VTABLE, { object: "first" }],
  [actions.ALTER_TABLE, { object: "second" }],
  [actions.ANALYZE, { object: "first" }],
  [actions.REINDEX, { object: "first" }],
]);

/** The modules of this engine build that are not on the list of modules that tenants may read. */
export function closedModules(present: readonly string[]): ReadonlySet<string> {
  return new Set(
    present.map((name) => name.toLowerCase()).filter((name) =>
      !allowedModules.has(name) && !allowedTableFunctions.has(name) &&
      !(name.startsWith("pragma_") && pragmaTable.has(name.slice(7)))
    ),
  );
}
