// The values with which a held statement runs.
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import { shownParameter, type SqlParameter } from "../../../../lib/sql/words/sql_value.ts";
import { ChangedValue } from "../../parts/changed_value.tsx";
import { counted, whole } from "../../parts/figures.ts";
import { Grid } from "../../parts/grid.tsx";
import type { Html } from "../../parts/html.ts";
import { LeftOut, type PageRoom } from "../../parts/page_room.tsx";
import { Pairs } from "../../parts/pairs.tsx";

/** The values of a statement's parameters, as many as there is room for. */
export function Params({ params, room }: { params: readonly SqlParameter[]; room: PageRoom }): Html {
  const listed = params.slice(0, room.valuesOf(params.length));
  return (
    <>
      <Pairs
        pairs={listed.map((value, at) => ({
          name: <span class="tok-parameter">{`?${at + 1}`}</span>,
          kind: kindOf(value),
          value: <ChangedValue value={shownParameter(value)} room={room} />,
        }))}
      />
      <LeftOut room={room} shown={listed.length} all={params.length} of="values" />
    </>
  );
}

interface SetsProps {
  readonly sets: NonNullable<ApprovalPage["paramSets"]>;
  readonly room: PageRoom;
}

/** The sets of values of a statement that runs once for each of them. */
export function ParamSets({ sets: { count, first }, room }: SetsProps): Html {
  const wide = first[0]?.length ?? 0;
  const listed = first.slice(0, Math.floor(room.valuesOf(wide * first.length) / Math.max(wide, 1)));
  const columns = first[0]?.map((_, at) => ({ name: `?${at + 1}` })) ?? [];
  return (
    <>
      <p class="note body">
        {`Runs once for each of ${counted(count, "set")} of values`}
        {listed.length < count ? `; the first ${whole(listed.length)} are shown` : ""}
      </p>
      <Grid
        label="Sets of values"
        kind=""
        columns={columns}
        rows={listed.map((set) =>
          set.map((value) => <ChangedValue value={shownParameter(value)} room={room} />)
        )}
      />
    </>
  );
}

function kindOf(value: SqlParameter): string {
  if (value === null) return "null";
  if (typeof value === "object" && "$integer" in value) return "integer";
  if (typeof value === "object") return "$blob" in value ? "blob" : "real";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "real";
  return "text";
}
