// The schema of a tenant in the runtime's own SQLite: the very connection that embedded tenants have.
import { Connection } from "../local/child/connection.ts";
import type { SchemaConnection } from "./schema_connection.ts";

export class NodeSchemaConnection extends Connection implements SchemaConnection {
  readonly broken = false;

  constructor() {
    super(":memory:", false);
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  columns(sql: string): string[] {
    return this.database.prepare(sql).columns().map((column) => column.name);
  }

  change(sql: string): void {
    this.run("schema", sql, [], { maxRows: 1, maxBytes: 1 }, false);
  }
}
