// A database in memory that holds the schema of a tenant and no rows, under the guard. Which SQLite it is may differ.
import type { CompileConnection } from "../local/child/compile_connection.ts";

export interface SchemaConnection extends CompileConnection {
  /** The engine was cut off in the middle of its work: this connection is of no more use. */
  readonly broken: boolean;
  /** Runs texts of the tenant's schema as the service's own. Throws what the engine throws. */
  exec(sql: string): void;
  /** Names of the columns of a statement's rows. Throws what the engine throws. */
  columns(sql: string): string[];
  /** Runs one statement that changes the schema, at that level. Throws what the engine throws. */
  change(sql: string): void;
  close(): void;
}

/** An empty one. */
export type OpenSchemaConnection = () => SchemaConnection;
