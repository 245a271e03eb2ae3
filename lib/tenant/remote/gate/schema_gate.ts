// The gate before a remote engine: the tenant's schema, without rows, in an in-memory SQLite with the same guard as the
// embedded engine has. What does not compile here under the level of the call never leaves this process.
import { joinFacts, noEngineFacts } from "../../../sql/statement_facts.ts";
import { readSyntax, type Syntax } from "../../../sql/syntax.ts";
import { tableAs } from "../../../sql/table_text.ts";
import { applySchemaChange } from "../../../engine/apply_schema_change.ts";
import { compileStatement } from "../../../engine/compile_statement.ts";
import { type EngineFailure, engineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import { listTables } from "../../../engine/list_tables.ts";
import { type StatementTarget, statementTarget } from "../../../engine/statement_target.ts";
import type { Level } from "../../../engine/guard.ts";
import type {
  InspectedStatement,
  Inspection,
  InspectOptions,
  SchemaNames,
  TenantCall,
  TenantStatement,
} from "../../tenant_store.ts";
import { Expansion } from "./expansion.ts";
import type { OpenSchemaConnection, SchemaConnection } from "./schema_connection.ts";

/** What one database's schema is made of. */
export interface TenantSchema {
  /** The engine's own schema version. */
  readonly engineVersion: number;
  /** Statements that make it, in an order in which they can run. */
  readonly statements: readonly string[];
  /** ANALYZE has made its tables. */
  readonly analyzed: boolean;
}

/** What the gate reads of a call. */
export type GateCall = Pick<TenantCall, "level" | "statements"> & { readonly foreignKeysOff?: boolean };

/** How much of a call may be sent, and what stops the rest; `failure` is about the first that may not. */
export interface CallGate {
  readonly sendable: number;
  readonly failure: EngineFailure | null;
}

/** Decisions cached for one schema. */
const CACHED_GATES = 1000;

export class SchemaGate {
  readonly #connection: SchemaConnection;
  readonly #expansion: Expansion;
  readonly #gates = new Map<string, EngineFailure | null>();
  /** The engine checks deferred constraints at the commit, so that calls cannot share one. */
  readonly hasDeferredConstraints: boolean;
  readonly hasVirtualTables: boolean;

  /** `version` is what facts are known by: unlike the engine's it never means two schemas, across restores either. */
  constructor(
    readonly version: number,
    readonly schema: TenantSchema,
    private readonly open: OpenSchemaConnection,
  ) {
    this.#connection = openSchema(open, schema);
    this.#expansion = new Expansion(schema.statements);
    this.hasDeferredConstraints = schema.statements.some((sql) => /INITIALLY\s+DEFERRED/i.test(sql));
    this.hasVirtualTables = schema.statements.some((sql) => /^CREATE\s+VIRTUAL/i.test(sql));
  }

  /** To be made anew. */
  get broken(): boolean {
    return this.#connection.broken;
  }

  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Inspection {
    const last = statements.length - 1;
    const changes = statements.some((statement, at) => statement.changesSchema && at < last);
    return this.#on({ changes, foreignKeysOff: options?.foreignKeysOff ?? false }, (connection) => {
      const facts: Inspection["facts"][number][] = [];
      const expansion = changes ? this.#expansion.copy() : this.#expansion;
      for (const statement of statements) {
        const apply = changes && statement.changesSchema
          ? () => applyChange(connection, statement.sql, expansion)
          : null;
        const compiled = expansion.refusal(statement.sql) ?? compileStatement(connection, statement, apply);
        if (!compiled.ok) return { schemaVersion: this.version, facts, failure: compiled.failure };
        facts.push(compiled.facts);
      }
      return { schemaVersion: this.version, facts, failure: null };
    });
  }

  /** Decides what of a call may reach the engine. */
  gate(call: GateCall): CallGate {
    const { texts, changes } = schemaTexts(call);
    const { foreignKeysOff = false } = call;
    return this.#on({ changes, foreignKeysOff }, (connection) => {
      const expansion = changes ? this.#expansion.copy() : this.#expansion;
      for (const [at, { statement, changes: applies }] of texts.entries()) {
        const failure = changes || foreignKeysOff
          ? gateStatement({ connection, expansion }, call.level, statement)
          : this.#cachedGate(call.level, statement);
        if (failure) return { sendable: at, failure };
        if (changes && applies) applyChange(connection, statement.sql, expansion);
      }
      return { sendable: texts.length, failure: null };
    });
  }

  tables(): SchemaNames["tables"] {
    return listTables(this.#connection);
  }

  /** Of each statement the one table that an UPDATE or DELETE changes, and its form with the keys left alone. */
  previewTargets(call: GateCall): (StatementTarget | null)[] {
    const { texts, changes } = schemaTexts(call);
    return this.#on(
      { changes, foreignKeysOff: call.foreignKeysOff ?? false },
      (connection) =>
        texts.map(({ statement, changes: applies }) => {
          const target = statementTarget(connection, statement);
          if (changes && applies) applyChange(connection, statement.sql);
          return target;
        }),
    );
  }

  close(): void {
    this.#connection.close();
  }

  #cachedGate(level: Level, statement: TenantStatement): EngineFailure | null {
    const key = `${level} ${statement.level} ${statement.params.length} ${statement.sql}`;
    const known = this.#gates.get(key);
    if (known !== undefined) return known;
    const failure = gateStatement(
      { connection: this.#connection, expansion: this.#expansion },
      level,
      statement,
    );
    if (this.#gates.size >= CACHED_GATES) this.#gates.clear();
    this.#gates.set(key, failure);
    return failure;
  }

  /** What follows a change of the schema, or does without foreign keys, is compiled against a copy. */
  #on<T>(
    { changes, foreignKeysOff }: { readonly changes: boolean; readonly foreignKeysOff: boolean },
    work: (connection: SchemaConnection) => T,
  ): T {
    if (!changes && !foreignKeysOff) return work(this.#connection);
    const copy = openSchema(this.open, this.schema);
    try {
      if (foreignKeysOff) copy.exec("PRAGMA foreign_keys=OFF");
      return work(copy);
    } finally {
      copy.close();
    }
  }
}

function openSchema(open: OpenSchemaConnection, { statements, analyzed }: TenantSchema): SchemaConnection {
  const connection = open();
  for (const sql of statements) {
    // What this engine cannot read does not exist here, and is thereby closed.
    try {
      connection.exec(sql);
    } catch (error) {
      if (error instanceof TypeError) throw error;
    }
  }
  if (analyzed) connection.exec("ANALYZE");
  return connection;
}

/** The statements of a call; `changes`: a later one sees another schema than the first. */
function schemaTexts({ level, statements }: Pick<TenantCall, "level" | "statements">) {
  const texts = statements.map((statement) => ({
    statement,
    changes: level === "schema" && changesSchema(statement.sql),
  }));
  return { texts, changes: texts.some(({ changes }, at) => changes && at < texts.length - 1) };
}

function changesSchema(sql: string): boolean {
  const read = readSyntax(sql);
  return read.ok && read.syntax.class === "schema" && read.syntax.pragma === null;
}

function applyChange(connection: SchemaConnection, sql: string, expansion?: Expansion): void {
  applySchemaChange(connection, { sql, tableAs: tableAs(sql) });
  expansion?.add(sql);
}

function gateStatement(
  { connection, expansion }: { readonly connection: SchemaConnection; readonly expansion: Expansion },
  level: Level,
  statement: TenantStatement,
): EngineFailure | null {
  const read = readSyntax(statement.sql);
  if (!read.ok) return plainFailure(read.reason === "too_big" ? "too_big" : "syntax_error", read.message);
  const { syntax } = read;
  if (syntax.refusal !== null) return plainFailure("denied", syntax.refusal);
  if (statement.params.length !== syntax.parameterCount) {
    return plainFailure("parameter_mismatch", "parameters do not match");
  }
  // A PRAGMA would run while it is compiled; the table of PRAGMAs has decided already.
  if (syntax.pragma !== null) {
    return syntax.pragma.sets && level !== "schema"
      ? plainFailure("denied", `Setting PRAGMA ${syntax.pragma.name}`)
      : null;
  }
  const changesSchema = syntax.class === "schema";
  const compiled = expansion.refusal(statement.sql) ??
    compileStatement(connection, { sql: statement.sql, changesSchema }, null);
  if (!compiled.ok) return compiled.failure;
  const { refusal } = joinFacts(syntax, compiled.facts ?? noEngineFacts);
  if (refusal !== null) return plainFailure("denied", refusal);
  return overLevel(connection, effectiveLevel(syntax, level, statement.level), statement.sql);
}

const RANK: Readonly<Record<Level, number>> = { read: 0, write: 1, schema: 2 };

/** EXPLAIN compiles what it explains and runs nothing of it; anything else has the lower of both levels. */
function effectiveLevel(syntax: Syntax, call: Level, statement: Level): Level {
  if (syntax.verb === "explain") return "schema";
  return RANK[statement] < RANK[call] ? statement : call;
}

function overLevel(connection: SchemaConnection, level: Level, sql: string): EngineFailure | null {
  try {
    connection.compile(level, sql);
    return null;
  } catch (error) {
    return engineFailure(error, connection.guard.denial);
  }
}
