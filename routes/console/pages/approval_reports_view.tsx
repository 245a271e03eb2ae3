// What a held merge or restore would do: the report of its preview.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import type { ApprovalPage } from "../../../lib/services/approvals/read_approvals.ts";
import type { SchemaChange, TableDiff } from "../../../lib/sql/branch_report.ts";
import { Card } from "../parts/card.tsx";
import { DiffGrid, type DiffRow } from "../parts/diff_grid.tsx";
import { counted, whole } from "../parts/figures.ts";
import type { Html } from "../parts/html.ts";
import { Pairs } from "../parts/pairs.tsx";
import { SqlText } from "../parts/sql_text.tsx";
import { visibleText } from "../parts/visible_text.ts";
import { type ChangesProps, Seen } from "./approval_seen_view.tsx";

/** What a merge would do. */
export function MergeChanges(
  props: ChangesProps & { readonly merge: NonNullable<ApprovalPage["merge"]> },
): Html {
  const { merge: { branchRef, mode, onConflict, report }, all } = props;
  const conflicts = report.conflicts.count;
  return (
    <>
      <Card id="merge" title={`Merge of branch ${branchRef}`} about={mode} foot={<Seen {...props} />}>
        <p>
          {mode === "schema" ? "Brings the branch's definitions" : "Brings the branch's rows"} to the trunk.
          {" "}
          {conflicts === 0
            ? "Nothing conflicts."
            : `${counted(conflicts, "conflict")}; where both sides have changed something, ${
              onConflict === "theirs" ? "the branch" : "the trunk"
            } wins.`}
        </p>
      </Card>
      <SchemaCard changes={report.schema.changes} statements={report.schema.statements} />
      {report.tables.map((table) => <TableCard diff={table} all={all} />)}
    </>
  );
}

/** What a restore would do. */
export function RestoreChanges(
  props: ChangesProps & { readonly restore: NonNullable<ApprovalPage["restore"]> },
): Html {
  const { restore: { snapshot, effect }, all } = props;
  return (
    <>
      <Card id="restore" title="Restore of a snapshot" foot={<Seen {...props} />}>
        <p>
          The database becomes what it was in <code>{snapshot}</code>. {effect === null
            ? "Its present state cannot be read, so nobody can tell what that changes."
            : `That changes ${counted(effect.rows, "row")} of ${counted(effect.tables.length, "table")}.`}
        </p>
      </Card>
      <SchemaCard changes={effect?.schema ?? []} statements={[]} />
      {(effect?.tables ?? []).map((table) => <TableCard diff={table} all={all} />)}
    </>
  );
}

function SchemaCard(
  { changes, statements }: { changes: readonly SchemaChange[]; statements: readonly string[] },
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
      {statements.length === 0 ? null : <SqlText sql={statements.join(";\n")} label="Statements" />}
    </Card>
  );
}

function TableCard({ diff, all }: { diff: TableDiff; all: boolean }): Html {
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
      about={`${whole(added)} added, ${whole(removed)} removed, ${whole(changed)} changed${
        shown.length < all3 ? `; ${whole(shown.length)} shown` : ""
      }`}
      full
    >
      <DiffGrid
        label={`Rows of ${visibleText(table)}, before and after`}
        columns={columns}
        keys={primaryKey}
        rows={shown}
        all={all || changed === 0}
      />
    </Card>
  );
}

function asRows(rows: readonly (readonly unknown[])[]): JsonValue[][] {
  return rows.map(valuesOf);
}

/** Guarantee: the report's values have the form of answers, as `branch_report.ts` says. */
function valuesOf(row: readonly unknown[]): JsonValue[] {
  return row as JsonValue[];
}
