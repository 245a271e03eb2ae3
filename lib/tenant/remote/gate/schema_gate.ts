// The gate before a remote engine. What does not compile under the level of the call never leaves this process. Here it
// compiles what is quick, and a thread of its own, which can be ended, what may keep an engine longer than others should wait:
// however a tenant's texts look, the thread that serves compiles some milliseconds of them at a time.
import { AppError } from "../../../core/errors.ts";
import { plainFailure } from "../../../engine/engine_failure.ts";
import type { InspectedStatement } from "../../../engine/compile_statement.ts";
import type { NamedTable } from "../../../engine/list_tables.ts";
import type { StatementTarget } from "../../../engine/statement_target.ts";
import type { readSyntax } from "../../../sql/grammar/syntax.ts";
import type { Inspection, InspectOptions } from "../../inspection.ts";
import { type CompiledSchema, compiledSchema, type TenantSchema } from "./compiled_schema.ts";
import { type CallGate, type GateCall, GateCompiler } from "./gate_compiler.ts";
import { answerRequest, type GateRequest } from "./gate_request.ts";
import type { GateEngine } from "./gate_engine.ts";
import type { GateAsker, GateThread } from "./gate_thread.ts";
import { levelKey } from "./level.ts";
import { QuickOnly, TakesLong } from "./quick_only.ts";

type Targets = readonly (StatementTarget | null)[];

/** Said where nobody knows what an engine would say. */
const tooLong = plainFailure(
  "too_big",
  "Shorten the statements, or send fewer in one call; compiling them takes too long",
);

const TAKES_LONG = Symbol("takes long");

/** Who compiles for a gate. */
interface Compilers {
  readonly gateThread: GateThread;
  /** Says of every text what `readSyntax` says. */
  readonly syntax: typeof readSyntax;
  /** Whose schema it is. */
  readonly asker: GateAsker;
}

/** The gate of a schema. Errors: those of `gateEngine`. */
export async function schemaGate(
  version: number,
  schema: TenantSchema,
  { context, asker }: {
    readonly context: Omit<Compilers, "asker"> & { readonly gateEngine: GateEngine };
    readonly asker: GateAsker;
  },
): Promise<SchemaGate> {
  const compiled = await compiledSchema(context.gateEngine, schema);
  return new SchemaGate(version, schema, compiled, { ...context, asker });
}

/** Whether a text may declare a constraint INITIALLY DEFERRED: between the two words there may be a comment. */
export function mayDefer(sql: string): boolean {
  return /\bINITIALLY\b/i.test(sql) && /\bDEFERRED\b/i.test(sql);
}

/** The gate of one database, for one version of its schema. */
export class SchemaGate {
  /** The engine checks deferred constraints at the commit, so that calls cannot share one. */
  readonly hasDeferredConstraints: boolean;
  readonly hasVirtualTables: boolean;
  /** A statement may change rows beside those that it names: by a trigger, a virtual table or a conflict clause. */
  readonly changesBeside: boolean;
  readonly #quick: GateCompiler;

  /** `version` is what facts are known by: unlike the engine's it never means two schemas, across restores either. */
  constructor(
    readonly version: number,
    readonly schema: TenantSchema,
    private readonly compiled: CompiledSchema,
    private readonly compilers: Compilers,
  ) {
    this.hasDeferredConstraints = schema.statements.some(mayDefer);
    this.changesBeside = schema.statements.some((sql) => /\b(TRIGGER|VIRTUAL|CONFLICT)\b/i.test(sql));
    this.hasVirtualTables = schema.statements.some((sql) => /^CREATE\s+VIRTUAL/i.test(sql));
    this.#quick = new GateCompiler(version, compiled, {
      syntax: compilers.syntax,
      quickOnly: new QuickOnly(schema.statements),
    });
  }

  /** To be made anew. */
  get broken(): boolean {
    return this.compiled.broken;
  }

  async inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection> {
    return await this.#ask<Inspection>(["inspect", statements, options]) ??
      { schemaVersion: this.version, facts: [], failure: tooLong };
  }

  /** Decides what of a call may reach the engine. */
  async gate({ level, statements, foreignKeysOff = false }: GateCall): Promise<CallGate> {
    const request: GateRequest = ["gate", { level, statements, foreignKeysOff }];
    const quick = this.#quickly<CallGate>(request);
    if (quick !== TAKES_LONG) return quick;
    const gate = await this.#patiently<CallGate>(request) ?? { sendable: 0, failure: tooLong };
    // The thread keeps what it has decided to itself.
    if (gate.failure === null && level !== "schema" && !foreignKeysOff) {
      for (const statement of statements) this.compiled.gates.set(levelKey(level, statement), null);
    }
    return gate;
  }

  /** Of each statement the one table that an UPDATE or DELETE changes, and its form with the keys left alone. */
  async previewTargets(
    { level, statements, foreignKeysOff = false }: GateCall,
  ): Promise<Targets> {
    return await this.#ask<Targets>(["previewTargets", { level, statements, foreignKeysOff }]) ?? [];
  }

  /** Errors: `store_unavailable` where it takes too long. */
  async tables(): Promise<readonly NamedTable[]> {
    const tables = await this.#ask<readonly NamedTable[]>(["tables"]);
    if (tables === null) throw new AppError("store_unavailable");
    return tables;
  }

  /** Whether the text, which looks like an INSERT of one row, has changed another number of rows or has read some. */
  doesMore(sql: string): boolean {
    return this.compiled.doMore.get(sql) ?? false;
  }

  noteMore(sql: string): void {
    this.compiled.doMore.set(sql, true);
  }

  /** Null: it takes too long. */
  async #ask<Answer>(request: GateRequest): Promise<Answer | null> {
    const quick = this.#quickly<Answer>(request);
    return quick === TAKES_LONG ? await this.#patiently<Answer>(request) : quick;
  }

  #quickly<Answer>(request: GateRequest): Answer | typeof TAKES_LONG {
    try {
      // Guarantee: who asks names what this request gives.
      return answerRequest(this.#quick, request) as Answer;
    } catch (error) {
      if (error instanceof TakesLong) return TAKES_LONG;
      throw error;
    }
  }

  /** Null: it takes too long. */
  async #patiently<Answer>(request: GateRequest): Promise<Answer | null> {
    const { version, schema, compiled, compilers: { gateThread, syntax, asker } } = this;
    const here = () => answerRequest(new GateCompiler(version, compiled, { syntax }), request);
    return await gateThread.ask(asker, { version, schema, request }, here) as Answer | null;
  }
}
