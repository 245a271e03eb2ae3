// The effect of a statement, as a dry run reports it.

/** A value of a row as JSON has it. */
export type JsonValue = string | number | null | { readonly $blob: string };

/** What one statement of a dry run would do. */
export interface StatementEffect {
  /** Rows that the statement itself changes; null for changes of the schema. */
  readonly ownRows: number | null;
  /** Rows that triggers and foreign keys change, that a REPLACE removes, and that a schema change writes or removes. */
  readonly cascadedRows: number;
  /** The engine's EXPLAIN QUERY PLAN rows. */
  readonly plan: readonly (readonly JsonValue[])[];
  /**
   * Up to ten affected rows of an UPDATE or DELETE of one table; where a person decides about it up to 200, and those of
   * an INSERT too; null for others.
   */
  readonly preview: RowPreview | null;
}

/** Rows that a statement would change. */
export interface RowPreview {
  readonly table: string;
  readonly columns: readonly string[];
  /** The columns of the primary key, in its order; empty where the table has none. */
  readonly keys: readonly string[];
  /** Of an INSERT those that are there already, which an upsert or REPLACE changes. */
  readonly before: readonly (readonly JsonValue[])[];
  /** The rows after the change, in the order of those before; behind them what an INSERT adds. Empty for DELETE. */
  readonly after: readonly (readonly JsonValue[])[];
}
