// What a scaffold must know of a table or view.

export interface ScaffoldColumn {
  readonly name: string;
  readonly declaredType: string;
  readonly notNull: boolean;
  /** Place in the primary key from 1, 0 outside of it. */
  readonly keyPlace: number;
  readonly generated: boolean;
  /** Text behind DEFAULT, null where there is none. */
  readonly defaultSql: string | null;
}

export interface ScaffoldTable {
  readonly name: string;
  readonly kind: "table" | "view" | "virtual";
  readonly columns: readonly ScaffoldColumn[];
  /** The engine counts the key up by itself: one INTEGER PRIMARY KEY column of a table with rowids. */
  readonly keyIsRowid: boolean;
}
