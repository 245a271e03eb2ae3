// What a merge, a restore or a branch changes: definitions, and the rows of each table before and after.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import type {
  BranchDiff,
  MergeConflict,
  MergeReport,
  SchemaChange,
  TableDiff,
} from "../../../lib/sql/service/branch_report.ts";
import { Card } from "./card.tsx";
import { DiffGrid, type DiffRow } from "./diff_grid.tsx";
import { counted, whole } from "./figures.ts";
import type { Html } from "./html.ts";
import type { PageRoom } from "./page_room.tsx";
import { Pairs } from "./pairs.tsx";
import { SqlText } from "./sql_text.tsx";
import { visibleText } from "./visible_text.ts";

/** What a merge brings over: it takes rows or definitions, never both. */
export function mergedOf(report: MergeReport, mode: "data" | "schema" | undefined): BranchDiff {
  if (mode === "schema") return { schema: report.schema, tables: [] };
  return { schema: { changes: [], statements: [] }, tables: report.tables };
}

/** What becomes of definitions, with the statements that do it; nothing where none changes. */
export function SchemaChanges(
  { changes, statements, room }: {
    readonly changes: readonly SchemaChange[];
    readonly statements: readonly string[];
    readonly room: PageRoom;
  },
): Html | null {
  if (changes.length === 0 && statements.length === 0) return null;
  return (
    <Card id="schema" title="Definitions" about={counted(changes.length, "change")} full>
      <Pairs
        pairs={changes.map(({ type, name, change }) => ({
          name: change,
          kind: type,
          value: visibleText(name),
        }))}
      />
      {statements.length === 0
        ? null
        : <SqlText sql={statements.join(";\n")} label="Statements" room={room} />}
    </Card>
  );
}

/** The rows of a table that come, go or change; `all`: also columns that stay. */
export function TableChanges(
  { diff, all, room }: { readonly diff: TableDiff; readonly all: boolean; readonly room: PageRoom },
): Html {
  const { table, columns, primaryKey, added, removed, changed, rows } = diff;
  const shown = [
    ...asRows(rows.removed).map((before): DiffRow => ({ before, after: null })),
    ...rows.changed.map(({ before, after }): DiffRow => ({
      before: valuesOf(before),
      after: valuesOf(after),
    })),
    ...asRows(rows.added).map((after): DiffRow => ({ before: null, after })),
  ];
  const all3 = added + removed + changed;
  return (
    <Card
      id={`table-${visibleText(table)}`}
      title={visibleText(table)}
      about={`${countsOf(diff)}${shown.length < all3 ? `; ${whole(shown.length)} shown` : ""}`}
      full
    >
      <DiffGrid
        label={`Rows of ${visibleText(table)}, before and after`}
        columns={columns}
        keys={primaryKey}
        rows={shown}
        all={all || changed === 0}
        room={room}
      />
    </Card>
  );
}

/** Added rows that take the place of rows of the trunk change those, where a merge is for the branch's side. */
export function asInTrunk(diff: TableDiff, conflicts: readonly MergeConflict[]): TableDiff {
  const replaced = new Map(
    conflicts.flatMap(({ kind, table, ancestor, ours, theirs }) =>
      kind === "row" && table === diff.table && ancestor === null && ours !== null
        ? [[JSON.stringify(theirs), ours] as const]
        : []
    ),
  );
  const changed = diff.rows.added.flatMap((after) => {
    const before = replaced.get(JSON.stringify(after));
    return before === undefined ? [] : [{ before, after }];
  });
  const added = diff.rows.added.filter((row) => !replaced.has(JSON.stringify(row)));
  return {
    ...diff,
    added: diff.added - changed.length,
    changed: diff.changed + changed.length,
    rows: { ...diff.rows, added, changed: [...diff.rows.changed, ...changed] },
  };
}

/** What does not happen is left out. */
function countsOf({ added, removed, changed }: TableDiff): string {
  const all = [[added, "added"], [removed, "removed"], [changed, "changed"]] as const;
  return all.filter(([count]) => count > 0).map(([count, verb]) => `${whole(count)} ${verb}`).join(", ");
}

function asRows(rows: readonly (readonly unknown[])[]): JsonValue[][] {
  return rows.map(valuesOf);
}

/** Guarantee: the report's values have the form of answers, as `branch_report.ts` says. */
function valuesOf(row: readonly unknown[]): JsonValue[] {
  return row as JsonValue[];
}
