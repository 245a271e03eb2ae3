// The schema of a tenant in the runtime's own SQLite: the very connection that embedded tenants have.
import { MemoryConnection } from "../../../engine/memory_connection.ts";
import type { SchemaConnection } from "./schema_connection.ts";

export class NodeSchemaConnection extends MemoryConnection implements SchemaConnection {
  readonly broken = false;

  exec(sql: string): void {
    this.database.exec(sql);
  }
}
