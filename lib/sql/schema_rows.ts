// Rows that a change of the schema writes or removes. The engine does not count them as changes, so they are counted
// around the statement. Pure, and without the parser, which an engine child does not have.

/** How to count them: statements that answer one number each. */
export interface SchemaRows {
  /** Runs before the statement. */
  readonly before: string | null;
  /**
   * Runs after the statement and counts the rows that it has written, where `before` answered 1. Null: it removes the
   * rows that `before` counted.
   */
  readonly after: string | null;
  /** Whose rows it makes or removes: an approval is bound to them. Absent where it does neither. */
  readonly rows?: ChangedRows;
}

/** All rows of a table, behind a statement that makes it or before one that drops it. */
export interface ChangedRows {
  readonly table: string;
  readonly side: "before" | "after";
}

/** The counted rows. */
export interface CountedRows {
  /** As sqld counts them, without the rows of `sqlite_schema`. */
  readonly written: number;
  /** Removed with their table, for which nothing is written. */
  readonly removed: number;
}

/** For a statement that writes and removes none. */
export const noRows: CountedRows = { written: 0, removed: 0 };

/**
 * From the answers, which are undefined where nothing was counted or could be read. `changes` is what the engine has
 * counted: where foreign keys require it, the engine deletes the rows of a table one by one before it drops the
 * table.
 */
export function countedRows(
  { before, after }: SchemaRows,
  [first, second]: readonly [before: number | undefined, after: number | undefined],
  changes: number,
): CountedRows {
  if (after === null) return { written: 0, removed: changes === 0 ? first ?? 0 : 0 };
  return { written: (before === null ? 1 : first ?? 0) * (second ?? 0), removed: 0 };
}
