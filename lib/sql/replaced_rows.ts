// Rows that a conflict removes. REPLACE deletes them, and the engine counts only the rows that it puts in their place.
// So the tables are counted around the statement: what is missing beyond the counted changes was replaced.
import { quoteIdentifier } from "./quote.ts";
import type { StatementFacts } from "./statement_facts.ts";

/** How to find the number of rows that one statement replaces. */
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

/** Null for a statement that replaces nothing. */
export function replacingOf(
  { actions, replacedTables, rowTables, verb, target }: StatementFacts,
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
 * many. The arguments are rows of `countsText` from before and after; `all` is the number of counted changes.
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
