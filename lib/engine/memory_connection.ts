// A guarded schema in memory, against which statements after a schema change are compiled.
import { PLAIN_ROWS } from "../sql/words/row_form.ts";
import { Connection } from "./connection.ts";
import type { ChangingConnection } from "./apply_schema_change.ts";
import type { SchemaTarget } from "./make_schema.ts";
import { SMALL_PAGES } from "./engine_limits.ts";
import { columnsOf } from "./open_database.ts";
import type { TypedColumn } from "./typed_result.ts";

/** A database in memory. */
export class MemoryConnection extends Connection implements ChangingConnection, SchemaTarget {
  constructor() {
    super(":memory:");
    this.database.exec(SMALL_PAGES);
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  writeCatalogue(may: boolean): void {
    this.database.enableDefensive(!may);
  }

  columns(sql: string): TypedColumn[] {
    return columnsOf(this.database, sql);
  }

  change(sql: string): void {
    // An ALTER TABLE that adds a CHECK returns a result without rows.
    this.run("schema", sql, [], { maxRows: 0, maxBytes: 100 }, PLAIN_ROWS);
  }
}
