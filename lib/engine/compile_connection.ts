// What compiling needs of a guarded connection. The embedded store compiles on the tenant's own connection, the remote
// store on one that holds only the schema.
import type { EngineValue } from "../sql/words/sql_value.ts";
import type { Guard, Level } from "./guard.ts";

/** A parameter or value of the service's own statements. */
export type InternalParameter = string | number | bigint | null;

/** A guarded connection that compiles statements. */
export interface CompileConnection {
  readonly guard: Guard;
  /** Compiles a tenant statement at a level without running it. Throws what the engine throws. */
  compile(level: Level, sql: string): void;
  /** One row of the service's own SQL as an array, or undefined. */
  internalRow(sql: string, ...params: InternalParameter[]): EngineValue[] | undefined;
  /** All rows of the service's own SQL as arrays. */
  internalRows(sql: string, ...params: InternalParameter[]): EngineValue[][];
}
