// Rows that the engine does not count as changes, so they are counted before and after the statement: rows that a change of
// the schema writes or removes, and rows that a REPLACE deletes. Pure, and without the parser, which an engine child does
// not have.
import { quoteIdentifier } from "../words/quote.ts";

/** How to count the rows of a schema change: statements that answer one number each. */
export interface SchemaRows {
  /** Runs before the statement. */
  readonly before: string | null;
  /**
   * Runs after the statement and counts the rows that it has written, where `before` answered 1. Null: it removes the
   * rows that `before` counted.
   */
  readonly after: string | null;
  /** The table whose rows it makes or removes, to which an approval is bound. Absent where it does neither. */
  readonly rows?: ChangedRows;
}

/** All rows of a table, behind a statement that makes it or before one that drops it. */
export interface ChangedRows {
  readonly table: string;
  readonly side: "before" | "after";
}

/** Rows of one statement beside its changes. */
export interface RowsBeside {
  /** Billed, as changes are. Of a schema change as sqld counts them, without the rows of `sqlite_schema`. */
  readonly written: number;
  /** Replaced, or removed with their table: nothing is written for them. */
  readonly removed: number;
}

/**
 * From the answers, which are undefined where nothing was counted or could be read. `changes` is what the engine has
 * counted: where foreign keys require it, the engine deletes the rows of a table one by one before it drops the
 * table.
 */
export function rowsOfSchemaChange(
  { before, after }: SchemaRows,
  [first, second]: readonly [before: number | undefined, after: number | undefined],
  changes: number,
): RowsBeside {
  if (after === null) return { written: 0, removed: changes === 0 ? first ?? 0 : 0 };
  return { written: (before === null ? 1 : first ?? 0) * (second ?? 0), removed: 0 };
}

/**
 * How to find the number of rows that one statement replaces. The engine counts only the rows that it puts in their place,
 * so what is missing of the tables beyond the counted changes was replaced.
 */
export interface Replacing {
  readonly tables: readonly {
    readonly name: string;
    /** Whether conflicts here may remove rows. */
    readonly replaced: boolean;
    /** What happens to its rows, as the engine says and counts. */
    readonly does: readonly string[];
  }[];
  /** The index of the table into which the statement itself inserts. */
  readonly insertsInto: number | null;
}

/** The parts of a statement's facts that tell which rows it replaces. */
interface ReplacingFacts {
  readonly actions: readonly string[];
  readonly replacedTables: readonly string[];
  readonly rowTables: readonly string[];
  readonly verb: string;
  readonly target: string | null;
}

/** How to find what a statement replaces; null for one that replaces nothing. */
export function replacingOf(
  { actions, replacedTables, rowTables, verb, target }: ReplacingFacts,
): Replacing | null {
  if (replacedTables.length === 0) return null;
  const tables = rowTables.map((name) => {
    const replaced = replacedTables.includes(name);
    const does = ["insert", "update", "delete"].filter((word) =>
      actions.includes(`${word} ${name}`) && !(replaced && word === "delete")
    );
    return { name, replaced, does };
  });
  const inserts = verb === "insert" || verb === "replace";
  const at = tables.findIndex(({ name }) => name.toLowerCase() === target?.toLowerCase());
  return { tables, insertsInto: inserts && at >= 0 ? at : null };
}

/** One row: the changes of the last statement itself, then the number of rows of each table. */
export function countsText({ tables }: Replacing): string {
  return ["SELECT changes()", ...tables.map(({ name }) => `(SELECT count(*) FROM ${quoteIdentifier(name)})`)]
    .join(", ");
}

/**
 * Exact for what the statement does to its own table, and where each other table is only inserted into or only
 * deleted from and nothing is updated. Rows that triggers insert into a table in which they also replace may hide as
 * many. The arguments are rows of `countsText` from before and after, which of a statement that has run several times has the
 * changes of all runs itself; `all` is the number of counted changes.
 */
export function replacedRows(
  { tables, insertsInto }: Replacing,
  [before, after]: readonly [before: readonly number[], after: readonly number[]],
  all: number,
): number {
  const shrunk = tables.map((_, at) => (before[at + 1] ?? 0) - (after[at + 1] ?? 0));
  const sum = (value: (at: number) => number) => tables.reduce((total, _, at) => total + value(at), 0);
  const does = (at: number, word: string) => tables[at]?.does.includes(word) === true;
  const plain = tables.every((table, at) =>
    !does(at, "update") && (table.replaced || table.does.length === 1)
  );
  if (plain) return Math.max(0, all + sum((at) => (shrunk[at] ?? 0) * (does(at, "delete") ? -1 : 1)));
  return sum((at) => {
    const inserted = at === insertsInto ? after[0] ?? 0 : 0;
    return tables[at]?.replaced ? Math.max(0, (shrunk[at] ?? 0) + inserted) : 0;
  });
}
