// Rows that a change of the schema writes or removes: the engine does not count them as changes, so they are counted around
// the statement. Pure, and without the parser, which an engine child has not.

/** How to count them: texts that answer one number each. */
export interface SchemaRows {
  /** Asked before the statement. */
  readonly before: string | null;
  /** Asked behind it: the rows that it has written, where `before` answered 1. Null: it removes those of `before`. */
  readonly after: string | null;
  /** Whose rows it makes or removes: an approval is bound to them. Absent where it does neither. */
  readonly rows?: ChangedRows;
}

/** All rows of a table, behind a statement that makes it or before one that drops it. */
export interface ChangedRows {
  readonly table: string;
  readonly side: "before" | "after";
}

export interface CountedRows {
  /** As sqld counts them, without the rows of the catalogue. */
  readonly written: number;
  /** With their table: nothing is written for that. */
  readonly removed: number;
}

export const noRows: CountedRows = { written: 0, removed: 0 };

/**
 * From the answers; undefined where nothing was asked, or what was asked could not be read. `changes`: what the engine has
 * counted, which deletes the rows of a table one by one, before it drops it, where foreign keys ask for that.
 */
export function countedRows(
  { before, after }: SchemaRows,
  [first, second]: readonly [before: number | undefined, after: number | undefined],
  changes: number,
): CountedRows {
  if (after === null) return { written: 0, removed: changes === 0 ? first ?? 0 : 0 };
  return { written: (before === null ? 1 : first ?? 0) * (second ?? 0), removed: 0 };
}
