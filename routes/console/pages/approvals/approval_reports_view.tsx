// What a held merge or restore would do: the report of its preview.
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import { Card } from "../../parts/card.tsx";
import { counted } from "../../parts/figures.ts";
import type { Html } from "../../parts/html.ts";
import { asInTrunk, mergedOf, SchemaChanges, TableChanges } from "../../parts/changes.tsx";
import { MergedBefore } from "../../parts/merged_before.tsx";
import { type ChangesProps, Seen } from "./approval_seen_view.tsx";
import { Conflicts } from "../branches/branch_conflict_view.tsx";

/** What a merge would do. */
export function MergeChanges(
  props: ChangesProps & { readonly merge: NonNullable<ApprovalPage["merge"]> },
): Html {
  const { merge: { branchRef, mode, onConflict, report }, all, room } = props;
  const conflicts = report.conflicts.count;
  const won = onConflict === "theirs" ? report.conflicts.items : [];
  const { schema, tables } = mergedOf(report, mode);
  const [brings, stays] = mode === "schema" ? ["definitions", "rows"] : ["rows", "definitions"];
  const isAll = mode === "schema" ? report.tables.length === 0 : report.schema.changes.length === 0;
  return (
    <>
      <Card id="merge" title={`Merge of branch ${branchRef}`} about={mode} foot={<Seen {...props} />}>
        <p>
          Brings the branch's {brings} to the trunk.{" "}
          {isAll ? "" : `The ${stays} that it has changed stay in the branch. `}
          {conflicts === 0
            ? "Nothing conflicts."
            : `${counted(conflicts, "conflict")}; where both sides have changed something, ${
              onConflict === "theirs" ? "the branch" : "the trunk"
            } wins.`}
        </p>
        {conflicts === 0 ? null : <Conflicts report={report} room={room} />}
        <MergedBefore report={report} />
      </Card>
      <SchemaChanges changes={schema.changes} statements={schema.statements} room={room} />
      {tables.map((table) => <TableChanges diff={asInTrunk(table, won)} all={all} room={room} />)}
    </>
  );
}

/** What a restore would do. */
export function RestoreChanges(
  props: ChangesProps & { readonly restore: NonNullable<ApprovalPage["restore"]> },
): Html {
  const { restore: { snapshot, effect }, all, room } = props;
  return (
    <>
      <Card id="restore" title="Restore of a snapshot" foot={<Seen {...props} />}>
        <p>
          The database becomes what it was in <code>{snapshot}</code>. {effect === null
            ? "Its present state cannot be read, so nobody can tell what that changes."
            : `That changes ${counted(effect.rows, "row")} of ${counted(effect.tables.length, "table")}.`}
        </p>
      </Card>
      <SchemaChanges changes={effect?.schema ?? []} statements={[]} room={room} />
      {(effect?.tables ?? []).map((table) => <TableChanges diff={table} all={all} room={room} />)}
    </>
  );
}
