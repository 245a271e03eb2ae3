// The gate before a remote engine: the tenant's schema, without rows, in an in-memory SQLite with the same guard as the
// embedded engine has. What does not compile here under the level of the call never leaves this process.
import { joinFacts } from "../../../sql/statement_facts.ts";
import { readSyntax, type Syntax } from "../../../sql/syntax.ts";
import { applySchemaChange } from "../../../engine/apply_schema_change.ts";
import {
  type Compiled,
  compileStatement,
  type InspectedStatement,
} from "../../../engine/compile_statement.ts";
import { type EngineFailure, engineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import { listTables } from "../../../engine/list_tables.ts";
import { type StatementTarget, statementTarget } from "../../../engine/statement_target.ts";
import type { Level } from "../../../engine/guard.ts";
import type { Inspection, InspectOptions } from "../../inspection.ts";
import type { SchemaNames } from "../../inspection.ts";
import type { TenantCall } from "../../tenant_store.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { CompiledSchema, TenantSchema } from "./compiled_schema.ts";
import { type CallWeight, type Expansion, tooWide } from "./expansion.ts";
import type { SchemaConnection } from "./schema_connection.ts";

/** What the gate reads of a call. */
export type GateCall = Pick<TenantCall, "level" | "statements"> & { readonly foreignKeysOff?: boolean };

/** How much of a call may be sent, and what stops the rest; `failure` is about the first that may not. */
export interface CallGate {
  readonly sendable: number;
  readonly failure: EngineFailure | null;
}

/** On what statements are compiled. */
interface Compiling {
  readonly connection: SchemaConnection;
  readonly expansion: Expansion;
  readonly weight: CallWeight;
}

export class SchemaGate {
  /** The engine checks deferred constraints at the commit, so that calls cannot share one. */
  readonly hasDeferredConstraints: boolean;
  readonly hasVirtualTables: boolean;
  /** A statement may change rows beside those that it names: by a trigger, a virtual table or a conflict clause. */
  readonly changesBeside: boolean;

  /**
   * `version` is what facts are known by: unlike the engine's it never means two schemas, across restores either. `syntax`
   * says of every text what `readSyntax` says.
   */
  constructor(
    readonly version: number,
    readonly schema: TenantSchema,
    private readonly compiled: CompiledSchema,
    private readonly syntax = readSyntax,
  ) {
    this.hasDeferredConstraints = schema.statements.some((sql) => /INITIALLY\s+DEFERRED/i.test(sql));
    this.changesBeside = schema.statements.some((sql) => /\b(TRIGGER|VIRTUAL|CONFLICT)\b/i.test(sql));
    this.hasVirtualTables = schema.statements.some((sql) => /^CREATE\s+VIRTUAL/i.test(sql));
  }

  /** To be made anew. */
  get broken(): boolean {
    return this.compiled.connection.broken;
  }

  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Inspection {
    const last = statements.length - 1;
    const changes = statements.some((statement, at) => statement.changesSchema && at < last);
    return this.#on({ changes, foreignKeysOff: options?.foreignKeysOff ?? false }, (connection) => {
      const facts: Inspection["facts"][number][] = [];
      const { expansion } = this.compiled;
      const own = changes ? expansion.copy() : expansion;
      const weight = { sum: 0 };
      for (const statement of statements) {
        const apply = changes && statement.changesSchema
          ? () => this.#applyChange(connection, statement.sql, own)
          : null;
        const compiled = this.#compile({ connection, expansion: own, weight }, statement, apply);
        if (!compiled.ok) return { schemaVersion: this.version, facts, failure: compiled.failure };
        facts.push(compiled.facts);
      }
      const told = options?.columns ? { columns: connection.columns(statements[last]?.sql ?? "") } : {};
      return { schemaVersion: this.version, facts, failure: null, ...told };
    });
  }

  /** Decides what of a call may reach the engine. */
  gate(call: GateCall): CallGate {
    const { texts, changes } = this.#schemaTexts(call);
    const { foreignKeysOff = false } = call;
    return this.#on({ changes, foreignKeysOff }, (connection) => {
      const expansion = changes ? this.compiled.expansion.copy() : this.compiled.expansion;
      const on = { connection, expansion, weight: { sum: 0 } };
      for (const [at, { statement, changes: applies }] of texts.entries()) {
        const failure = changes || foreignKeysOff
          ? this.#gateStatement(on, call.level, statement)
          : this.#cachedGate(on, call.level, statement);
        if (failure) return { sendable: at, failure };
        if (changes && applies) this.#applyChange(connection, statement.sql, expansion);
      }
      return { sendable: texts.length, failure: null };
    });
  }

  tables(): SchemaNames["tables"] {
    return listTables(this.compiled.connection);
  }

  /** Whether the text, which looks like an INSERT of one row, has changed another number of rows or has read some. */
  doesMore(sql: string): boolean {
    return this.compiled.doMore.get(sql) ?? false;
  }

  noteMore(sql: string): void {
    this.compiled.doMore.set(sql, true);
  }

  /** Of each statement the one table that an UPDATE or DELETE changes, and its form with the keys left alone. */
  previewTargets(call: GateCall): (StatementTarget | null)[] {
    const { texts, changes } = this.#schemaTexts(call);
    return this.#on(
      { changes, foreignKeysOff: call.foreignKeysOff ?? false },
      (connection) =>
        texts.map(({ statement, changes: applies }) => {
          const target = statementTarget(connection, statement);
          if (changes && applies) this.#applyChange(connection, statement.sql);
          return target;
        }),
    );
  }

  #cachedGate(on: Compiling, level: Level, statement: TenantStatement): EngineFailure | null {
    const key = `${level} ${statement.level} ${statement.params.length} ${statement.sql}`;
    const { gates } = this.compiled;
    const known = gates.get(key);
    if (known !== undefined) return known;
    const failure = this.#gateStatement(on, level, statement);
    // Another call may have room for what was too much in this one.
    if (failure?.kind !== "too_big") gates.set(key, failure);
    return failure;
  }

  /** What a call has learned of a statement holds for its gate: a long text takes the engine long. */
  #compile(on: Compiling, statement: InspectedStatement, apply: (() => void) | null = null): Compiled {
    const { connection, facts } = this.compiled;
    const known = on.connection === connection && !statement.changesSchema ? facts : null;
    const refusal = this.#refusal(on, statement.sql);
    if (refusal !== null) return refusal;
    const found = known?.get(statement.sql);
    if (found) return { ok: true, facts: found };
    const compiled = compileStatement(on.connection, statement, apply);
    if (compiled.ok) known?.set(statement.sql, compiled.facts);
    return compiled;
  }

  #refusal({ expansion, weight }: Compiling, sql: string) {
    const read = this.syntax(sql);
    if (!read.ok) return expansion.refusal(sql, 0, weight);
    const { tableUses, widths } = read.syntax;
    return tooWide(widths, weight) ?? expansion.refusal(sql, tableUses, weight);
  }

  #gateStatement(
    on: Compiling,
    level: Level,
    statement: TenantStatement,
  ): EngineFailure | null {
    const read = this.syntax(statement.sql);
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
    const compiled = this.#compile(on, { sql: statement.sql, changesSchema });
    if (!compiled.ok) return compiled.failure;
    const { refusal } = joinFacts(syntax, compiled.facts);
    if (refusal !== null) return plainFailure("denied", refusal);
    return overLevel(on.connection, effectiveLevel(syntax, level, statement.level), statement.sql);
  }

  /** The statements of a call; `changes`: a later one sees another schema than the first. */
  #schemaTexts({ level, statements }: Pick<TenantCall, "level" | "statements">) {
    const texts = statements.map((statement) => ({
      statement,
      changes: level === "schema" && this.#changesSchema(statement.sql),
    }));
    return { texts, changes: texts.some(({ changes }, at) => changes && at < texts.length - 1) };
  }

  #changesSchema(sql: string): boolean {
    const read = this.syntax(sql);
    return read.ok && read.syntax.class === "schema" && read.syntax.pragma === null;
  }

  #applyChange(connection: SchemaConnection, sql: string, expansion?: Expansion): void {
    const read = this.syntax(sql);
    applySchemaChange(connection, { sql, tableAs: read.ok ? read.syntax.tableAs : null });
    expansion?.add(sql);
  }

  /** What follows a change of the schema, or does without foreign keys, is compiled against a copy. */
  #on<T>(
    { changes, foreignKeysOff }: { readonly changes: boolean; readonly foreignKeysOff: boolean },
    work: (connection: SchemaConnection) => T,
  ): T {
    if (!changes && !foreignKeysOff) return work(this.compiled.connection);
    const copy = this.compiled.copy();
    try {
      if (foreignKeysOff) copy.exec("PRAGMA foreign_keys=OFF");
      return work(copy);
    } finally {
      copy.close();
    }
  }
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
