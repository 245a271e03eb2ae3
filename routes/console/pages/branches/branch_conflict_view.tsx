// Conflicts of a merge: what both sides have made of the same row, so that nobody chooses without having seen it.
import type { JsonValue } from "../../../../lib/engine/statement_effect.ts";
import type { MergeConflict, MergeReport } from "../../../../lib/sql/service/branch_report.ts";
import { ChangedValue } from "../../parts/changed_value.tsx";
import type { Html } from "../../parts/html.ts";
import { PageRoom } from "../../parts/page_room.tsx";
import { visibleText } from "../../parts/visible_text.ts";

interface ConflictProps {
  readonly conflict: MergeConflict;
  readonly tables: MergeReport["tables"];
  /** Of all conflicts together. */
  readonly room: PageRoom;
}

const SHOWN = 10;

/** The first few of a report. */
export function Conflicts(
  { report: { conflicts, tables }, room = new PageRoom() }: {
    readonly report: MergeReport;
    /** Of the page, where it shows more than this. */
    readonly room?: PageRoom;
  },
): Html {
  return (
    <>
      <ul>
        {conflicts.items.slice(0, SHOWN).map((conflict) => (
          <Conflict conflict={conflict} tables={tables} room={room} />
        ))}
      </ul>
      {conflicts.count > SHOWN ? `and ${conflicts.count - SHOWN} more` : ""}
    </>
  );
}

/** Its name, and where both sides have a row the values in which they differ. */
function Conflict({ conflict, tables, room }: ConflictProps): Html {
  const { kind, table, key, ours, theirs } = conflict;
  const place = `${visibleText(table)} ${key.map((value) => visibleText(String(value))).join(", ")}`;
  if (kind !== "row") return <li>{`${kind.replace("_", " ")}: ${place}`}</li>;
  if (ours === null) return <li>{`${place}, which the trunk has removed`}</li>;
  if (theirs === null) return <li>{`${place}, which the branch has removed`}</li>;
  const columns = tables.find((one) => one.table === table)?.columns ?? [];
  return (
    <li>
      {place}
      <ul>
        {columns.map((name, at) => {
          const [trunk, branch] = [valueAt(ours, at), valueAt(theirs, at)];
          return isContested(conflict, at)
            ? (
              <li>
                {`${visibleText(name)}: in the trunk `}
                <span class="mono">
                  <ChangedValue value={trunk} other={branch} room={room} />
                </span>
                {", in the branch "}
                <span class="mono">
                  <ChangedValue value={branch} other={trunk} room={room} />
                </span>
              </li>
            )
            : null;
        })}
      </ul>
    </li>
  );
}

/** Whether both sides have changed the value, and not to the same. */
function isContested({ ancestor, ours, theirs }: MergeConflict, at: number): boolean {
  const [before, trunk, branch] = [ancestor, ours, theirs].map((row) => JSON.stringify(row?.[at] ?? null));
  return trunk !== branch && (ancestor === null || (trunk !== before && branch !== before));
}

function valueAt(row: readonly unknown[], at: number): JsonValue {
  return (row[at] ?? null) as JsonValue;
}
