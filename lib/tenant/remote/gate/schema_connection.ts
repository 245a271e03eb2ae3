// A database in memory that holds the schema of a tenant and no rows, under the guard. Which SQLite it is may differ.
import type { ChangingConnection } from "../../../engine/apply_schema_change.ts";

export interface SchemaConnection extends ChangingConnection {
  /** The engine was cut off in the middle of its work: this connection is of no more use. */
  readonly broken: boolean;
  /** Runs texts of the tenant's schema as the service's own. Throws what the engine throws. */
  exec(sql: string): void;
  close(): void;
}

/** An empty one. */
export type OpenSchemaConnection = () => SchemaConnection;
