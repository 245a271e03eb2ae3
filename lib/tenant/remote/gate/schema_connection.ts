// A database in memory that holds the schema of a tenant and no rows, under the guard. Which SQLite it is may differ.
import type { ChangingConnection } from "../../../engine/apply_schema_change.ts";
import type { SchemaTarget } from "../../../engine/make_schema.ts";

export interface SchemaConnection extends ChangingConnection, SchemaTarget {
  /** The engine was cut off in the middle of its work: this connection is of no more use. */
  readonly broken: boolean;
  close(): void;
}

/** An empty one. */
export type OpenSchemaConnection = () => SchemaConnection;
