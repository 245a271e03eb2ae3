// What messages need to know of a schema: its tables and views, and what refers to what.

/** One column of a foreign key. */
export interface Reference {
  readonly column: string;
  readonly table: string;
  /** Null: the primary key of `table`. */
  readonly toColumn: string | null;
}

/** A table or view as messages name it. */
export interface KnownTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rowid: string | null;
  readonly references: readonly Reference[];
}

/** Tables and views with their columns. */
export type KnownTables = readonly KnownTable[];

/** The most names that a hint lists. */
const MAX_LISTED = 10;
/** Characters that a listed name has at most: a longer one says nothing in a hint. */
const MAX_NAME = 64;

/** `a, b, c and 4 more`; empty where there is none. */
export function listed(names: readonly string[]): string {
  const short = names.filter(({ length }) => length <= MAX_NAME);
  const [shown, more] = [short.slice(0, MAX_LISTED), Math.max(0, names.length - MAX_LISTED)];
  return shown.join(", ") + (more > 0 && shown.length > 0 ? ` and ${more} more` : "");
}

/**
 * Which references of the written table may lead nowhere, or which references to it stand in the way; at most three.
 * Empty where the schema has none.
 */
export function referencesHint(target: string | null, removes: boolean, known: KnownTables): string {
  if (target === null) return "";
  const same = (name: string) => name.toLowerCase() === target.toLowerCase();
  const found = known.flatMap(({ name, references }) =>
    references.filter(({ table }) => removes ? same(table) : same(name)).map(({ column, table, toColumn }) =>
      `${column} of ${name} refers to ${toColumn === null ? table : `${toColumn} of ${table}`}`
    )
  );
  return found.length === 0 ? "" : `: ${found.slice(0, MAX_REFERENCES).join(", ")}`;
}

/** The most references that a hint names. */
const MAX_REFERENCES = 3;
