// Compiling statements without running them: what is asked of a tenant database, and what it answers.
import type { EngineFailure } from "../engine/engine_failure.ts";
import type { NamedTable } from "../engine/list_tables.ts";
import type { TypedColumn } from "../engine/typed_result.ts";
import type { EngineFacts } from "../sql/grammar/statement_facts.ts";

/** How statements are compiled. */
export interface InspectOptions {
  /** Compiles as for a call that runs without foreign keys. */
  readonly foreignKeysOff: boolean;
  /** Tells the columns of the last statement too. */
  readonly columns?: boolean;
}

/** The result of compiling: `facts` of the statements that compile, in order; `failure` is that of the next statement. */
export interface Inspection {
  /** The schema version for which the facts are valid, before any of the statements has run. */
  readonly schemaVersion: number;
  /** The schema as one text. Absent where facts are not shared by databases that have the same. */
  readonly schema?: string | undefined;
  readonly facts: readonly EngineFacts[];
  readonly failure: EngineFailure | null;
  /** Of the last statement, where they were asked for and it compiles. */
  readonly columns?: readonly TypedColumn[];
}

/** The names in a schema. */
export interface SchemaNames {
  readonly schemaVersion: number;
  readonly tables: readonly NamedTable[];
}
