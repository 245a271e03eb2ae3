// What messages need to know of a schema: its tables and views, and what refers to what.
import { sameName } from "../words/names.ts";

/** One column of a foreign key. */
export interface Reference {
  readonly column: string;
  readonly table: string;
  /** Null: the primary key of `table`. */
  readonly toColumn: string | null;
  /** What a DELETE there does to the rows that refer: `CASCADE`, `SET NULL`, `NO ACTION` … */
  readonly onDelete: string;
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
 * Which references of the written table may lead nowhere, or which references stand in the way of a DELETE; at most three.
 * Empty where the schema has none.
 */
export function referencesHint(target: string | null, removes: boolean, known: KnownTables): string {
  if (target === null) return "";
  const found = removes
    ? refusing(target, known)
    : known.flatMap((table) =>
      sameName(table.name, target) ? table.references.map((one) => [table.name, one] as const) : []
    );
  const told = found.slice(0, MAX_REFERENCES).map(([name, { column, table, toColumn }]) =>
    `${column} of ${name} refers to ${toColumn === null ? table : `${toColumn} of ${table}`}`
  );
  return told.length === 0 ? "" : `: ${told.join(", ")}`;
}

/** Where rows go along with those of the table, what refers to them is in the way too. */
function refusing(target: string, known: KnownTables): (readonly [name: string, Reference])[] {
  const all = known.flatMap(({ name, references }) => references.map((one) => [name, one] as const));
  const byParent = Map.groupBy(all, ([, { table }]) => table.toLowerCase());
  const gone = new Set([target.toLowerCase()]);
  const found: (readonly [string, Reference])[] = [];
  for (const parent of gone) {
    for (const [name, reference] of byParent.get(parent) ?? []) {
      if (reference.onDelete === "CASCADE") gone.add(name.toLowerCase());
      else if (reference.onDelete !== "SET NULL") found.push([name, reference]);
    }
  }
  return found;
}

/** The most references that a hint names. */
const MAX_REFERENCES = 3;
