// The user-defined schema of a database as plain data: what describe shows, search ranks and doctor checks.

export interface ColumnFacts {
  readonly name: string;
  /** As declared; empty where nothing is. */
  readonly type: string;
  /** Place in the primary key from 1, 0 outside of it. */
  readonly pk: number;
  readonly notNull: boolean;
  readonly hasDefault: boolean;
  readonly generated: boolean;
  readonly description: string;
}

export interface ForeignKeyFacts {
  readonly columns: readonly string[];
  /** As the schema spells it where the table exists. */
  readonly toTable: string;
  /** Columns of an unnamed target are those of its primary key; empty where there is none. */
  readonly toColumns: readonly string[];
}

export interface TableFacts {
  readonly name: string;
  readonly kind: "table" | "virtual";
  readonly withoutRowid: boolean;
  readonly description: string;
  readonly columns: readonly ColumnFacts[];
  readonly foreignKeys: readonly ForeignKeyFacts[];
  /** Why it cannot be read; null where it can. */
  readonly error: string | null;
}

export interface SchemaFacts {
  readonly databaseDescription: string;
  /** Sorted by name; no views, no shadow tables, none of the service's or the engine's own. */
  readonly tables: readonly TableFacts[];
}
