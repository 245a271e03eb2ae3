// Compiles what is to reach a remote engine: against the tenant's schema, without rows, in an in-memory SQLite with the same
// guard as the embedded engine has.
import { joinFacts } from "../../../sql/grammar/statement_facts.ts";
import { readSyntax } from "../../../sql/grammar/syntax.ts";
import { applySchemaChange } from "../../../engine/apply_schema_change.ts";
import {
  type Compiled,
  compileStatement,
  type InspectedStatement,
} from "../../../engine/compile_statement.ts";
import { type EngineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import { listTables } from "../../../engine/list_tables.ts";
import { type StatementTarget, statementTarget } from "../../../engine/statement_target.ts";
import type { Level } from "../../../engine/guard.ts";
import type { Inspection, InspectOptions, SchemaNames } from "../../inspection.ts";
import type { TenantCall } from "../../tenant_store.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { CompiledSchema } from "./compiled_schema.ts";
import { type CallWeight, type Expansion, noWeight, tooWide } from "./expansion.ts";
import { effectiveLevel, levelKey, overLevel } from "./level.ts";
import type { QuickOnly } from "./quick_only.ts";
import type { SchemaConnection } from "./schema_connection.ts";

/** What the gate reads of a call. */
export type GateCall = Pick<TenantCall, "level" | "statements"> & { readonly foreignKeysOff?: boolean };

/** How much of a call may be sent, and what stops the rest; `failure` is about the first that may not. */
export interface CallGate {
  readonly sendable: number;
  readonly failure: EngineFailure | null;
}

/** The shared schema, or a copy of it; not made before it is asked for. */
interface Source {
  readonly connection: SchemaConnection;
  readonly expansion: Expansion;
}

/** On what statements are compiled. */
interface Compiling {
  readonly source: Source;
  readonly weight: CallWeight;
}

/** What a compiler is given beside the schema. */
interface CompilerOptions {
  /** Says of every text what `readSyntax` says. */
  readonly syntax?: typeof readSyntax;
  /** Throws `TakesLong` before what may take longer than the thread that serves may be kept. */
  readonly quickOnly?: QuickOnly;
}

export class GateCompiler {
  readonly #syntax: typeof readSyntax;
  readonly #quickOnly: QuickOnly | null;

  constructor(
    private readonly version: number,
    private readonly compiled: CompiledSchema,
    { syntax = readSyntax, quickOnly }: CompilerOptions = {},
  ) {
    this.#syntax = syntax;
    this.#quickOnly = quickOnly ?? null;
  }

  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Inspection {
    this.#quickOnly?.mayRead(statements);
    const last = statements.length - 1;
    const changes = statements.some((statement, at) => statement.changesSchema && at < last);
    return this.#on({ changes, foreignKeysOff: options?.foreignKeysOff ?? false }, (source) => {
      const facts: Inspection["facts"][number][] = [];
      const on = { source, weight: noWeight() };
      for (const statement of statements) {
        const applies = changes && statement.changesSchema;
        if (applies) this.#mayApply(on, statement.sql);
        const apply = applies ? () => this.#applyChange(source, statement.sql) : null;
        const compiled = this.#compile(on, statement, apply);
        if (!compiled.ok) return { schemaVersion: this.version, facts, failure: compiled.failure };
        facts.push(compiled.facts);
      }
      const told = options?.columns
        ? { columns: source.connection.columns(statements[last]?.sql ?? "") }
        : {};
      return { schemaVersion: this.version, facts, failure: null, ...told };
    });
  }

  /** Decides what of a call may reach the engine. */
  gate(call: GateCall): CallGate {
    const { texts, changes } = this.#schemaTexts(call);
    const { foreignKeysOff = false } = call;
    return this.#on({ changes, foreignKeysOff }, (source) => {
      const on = { source, weight: noWeight() };
      for (const [at, { statement, changes: applies }] of texts.entries()) {
        const failure = changes || foreignKeysOff
          ? this.#gateStatement(on, call.level, statement)
          : this.#cachedGate(on, call.level, statement);
        if (failure) return { sendable: at, failure };
        if (!changes || !applies) continue;
        this.#mayApply(on, statement.sql);
        this.#applyChange(source, statement.sql);
      }
      return { sendable: texts.length, failure: null };
    });
  }

  tables(): SchemaNames["tables"] {
    this.#quickOnly?.mayList(this.compiled);
    return listTables(this.compiled.connection);
  }

  /** Of each statement the one table that an UPDATE or DELETE changes, and its form with the keys left alone. */
  previewTargets(call: GateCall): (StatementTarget | null)[] {
    const { texts, changes } = this.#schemaTexts(call);
    const weight = noWeight();
    return this.#on(
      { changes, foreignKeysOff: call.foreignKeysOff ?? false },
      (source) =>
        texts.map(({ statement, changes: applies }) => {
          const on = { source, weight };
          this.#quickOnly?.mayCompile(on, statement.sql, this.#syntax);
          const target = statementTarget(source.connection, statement);
          if (changes && applies) {
            this.#mayApply(on, statement.sql);
            this.#applyChange(source, statement.sql);
          }
          return target;
        }),
    );
  }

  #cachedGate(on: Compiling, level: Level, statement: TenantStatement): EngineFailure | null {
    const key = levelKey(level, statement);
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
    const { facts } = this.compiled;
    const known = on.source === this.compiled && !statement.changesSchema ? facts : null;
    this.#quickOnly?.mayCompile(on, statement.sql, this.#syntax);
    const refusal = this.#refusal(on, statement.sql);
    if (refusal !== null) return refusal;
    const found = known?.get(statement.sql);
    if (found) return { ok: true, facts: found };
    const compiled = compileStatement(on.source.connection, statement, apply);
    if (compiled.ok) known?.set(statement.sql, compiled.facts);
    return compiled;
  }

  #refusal({ source: { expansion }, weight }: Compiling, sql: string) {
    const read = this.#syntax(sql);
    if (!read.ok) return expansion.refusal(sql, 0, weight);
    const { tableUses, widths } = read.syntax;
    return tooWide(widths, weight) ?? expansion.refusal(sql, tableUses, weight);
  }

  #gateStatement(
    on: Compiling,
    level: Level,
    statement: TenantStatement,
  ): EngineFailure | null {
    const read = this.#syntax(statement.sql);
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
    return overLevel(on.source.connection, effectiveLevel(syntax, level, statement.level), statement.sql);
  }

  /** The statements of a call; `changes`: a later one sees another schema than the first. */
  #schemaTexts({ level, statements }: Pick<TenantCall, "level" | "statements">) {
    this.#quickOnly?.mayRead(statements);
    const texts = statements.map((statement) => ({
      statement,
      changes: level === "schema" && this.#changesSchema(statement.sql),
    }));
    return { texts, changes: texts.some(({ changes }, at) => changes && at < texts.length - 1) };
  }

  #changesSchema(sql: string): boolean {
    const read = this.#syntax(sql);
    return read.ok && read.syntax.class === "schema" && read.syntax.pragma === null;
  }

  /** Not from where errors are taken for the engine's. Throws `TakesLong`. */
  #mayApply({ weight }: Compiling, sql: string): void {
    if (this.#quickOnly === null) return;
    const read = this.#syntax(sql);
    if (read.ok && read.syntax.verb === "alter") this.#quickOnly.mayAlter(weight);
  }

  #applyChange({ connection, expansion }: Source, sql: string): void {
    const read = this.#syntax(sql);
    applySchemaChange(connection, { sql, tableAs: read.ok ? read.syntax.tableAs : null });
    expansion.add(sql);
  }

  /** What follows a change of the schema, or does without foreign keys, is compiled against a copy. */
  #on<T>(
    { changes, foreignKeysOff }: { readonly changes: boolean; readonly foreignKeysOff: boolean },
    work: (source: Source) => T,
  ): T {
    if (!changes && !foreignKeysOff) return work(this.compiled);
    this.#quickOnly?.mayMake("own");
    const connection = this.compiled.copy();
    try {
      if (foreignKeysOff) connection.exec("PRAGMA foreign_keys=OFF");
      return work({ connection, expansion: this.compiled.expansion.copy() });
    } finally {
      connection.close();
    }
  }
}
