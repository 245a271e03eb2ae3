// What is asked of a database about statements before they run, and what it tells.
import type { EngineFailure } from "../engine/engine_failure.ts";
import type { EngineFacts } from "../sql/statement_facts.ts";

/** A statement to compile. */
export interface InspectedStatement {
  readonly sql: string;
  /** The statement changes the schema, so that later statements must be compiled against the result. */
  readonly changesSchema: boolean;
}

/** How statements are compiled. */
export interface InspectOptions {
  /** Compiles as for a call that runs without foreign keys. */
  readonly foreignKeysOff: boolean;
}

/** The result of compiling: `facts` of the statements that compile, in order; `failure` is that of the next statement. */
export interface Inspection {
  /** The schema version for which the facts are valid, before any of the statements has run. */
  readonly schemaVersion: number;
  readonly facts: readonly EngineFacts[];
  readonly failure: EngineFailure | null;
}
