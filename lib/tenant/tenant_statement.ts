// A statement of a call in the form in which a tenant store takes it.
import type { Level } from "../engine/guard.ts";
import type { ReturnedColumns } from "../sql/grammar/returned_columns.ts";
import type { SqlParameter } from "../sql/words/sql_value.ts";
import type { TakenValue } from "../sql/words/taken_value.ts";
import type { Replacing, SchemaRows } from "../sql/grammar/uncounted_rows.ts";
import type { ServiceStatement } from "./service_statement.ts";

/** A statement with its values. */
export interface TenantStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
  /** The level at which the statement compiles; EXPLAIN of a write still runs on a reading connection. */
  readonly level: Level;
  /** Set where conflicts may replace rows, and the number of those rows is asked for. */
  readonly replacing?: Replacing;
  /** For a schema change: how to count the rows that it writes or removes. */
  readonly schemaRows?: SchemaRows;
  /**
   * Parameters whose values the call finds while it runs, for calls that are all or nothing; without the row the statement
   * fails with `no_row`. Where one statement takes values, the results of all but the last have the typed form.
   */
  readonly takes?: readonly TakenValue[];
  /** Set where later statements take values of its rows, whose texts then have to be exact. */
  readonly returns?: ReturnedColumns;
  /** The service's own statements that run after this one, if it succeeds. */
  readonly after?: readonly ServiceStatement[];
}
