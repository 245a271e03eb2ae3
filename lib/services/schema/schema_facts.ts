// The user-defined schema of a database as plain data: what describe shows, search ranks and doctor checks.

/** A column of a table. */
export interface ColumnFacts {
  readonly name: string;
  /** The declared type; empty where there is none. */
  readonly type: string;
  /** Position in the primary key from 1, 0 outside of it. */
  readonly pk: number;
  readonly notNull: boolean;
  /** The SQL of its default; null where it has none. */
  readonly default: string | null;
  readonly generated: boolean;
  readonly description: string;
}

/** A foreign key of a table. */
export interface ForeignKeyFacts {
  readonly columns: readonly string[];
  /** Spelled as in the schema, where the table exists. */
  readonly toTable: string;
  /** For a key that names no target columns, those of the target's primary key; empty where there is none. */
  readonly toColumns: readonly string[];
}

/** A table with its columns and foreign keys. */
export interface TableFacts {
  readonly name: string;
  readonly kind: "table" | "virtual";
  readonly withoutRowid: boolean;
  /** An index of its own holds the primary key: no column is the row id, also not an INTEGER PRIMARY KEY DESC. */
  readonly keyIsIndexed: boolean;
  readonly description: string;
  readonly columns: readonly ColumnFacts[];
  readonly foreignKeys: readonly ForeignKeyFacts[];
  /** Why it cannot be read; null where it can. */
  readonly error: string | null;
}

/** All tables of a database with their descriptions. */
export interface SchemaFacts {
  readonly databaseDescription: string;
  /** Sorted by name. Without views, shadow tables, and tables of the service or the engine. */
  readonly tables: readonly TableFacts[];
}
