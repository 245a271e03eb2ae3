// What the page of a branch shows: its changes, what a merge would do, and what else becomes of it.
import type { BranchDiff, MergeReport } from "../../../../lib/sql/service/branch_report.ts";
import type { Visit } from "../../../http/visit.ts";
import type { Problem } from "../../frame/attempt.ts";
import { mayManage } from "../../frame/may_manage.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { AskFirst } from "../../parts/ask_first.tsx";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { asInTrunk, mergedOf, SchemaChanges, TableChanges } from "../../parts/changes.tsx";
import { Crumbs } from "../../parts/crumbs.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { Notice } from "../../parts/notice.tsx";
import { PageRoom } from "../../parts/page_room.tsx";
import { Segments } from "../../parts/segments.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { MergeCard, type MergePreview } from "./branch_merge_view.tsx";
import type { PagePlace } from "../../frame/database_pages.ts";

/** What the page tells. */
export interface BranchProps {
  readonly visit: Visit;
  /** The branches of the trunk. */
  readonly at: Omit<PagePlace, "baseUrl">;
  readonly branch: {
    readonly ref: string;
    readonly purpose: string;
    /** Unix milliseconds. */
    readonly copiedAt: number;
    readonly expiresAt: number;
  };
  readonly diff: BranchDiff;
  readonly preview: MergePreview | null;
  /** Whether columns are shown that stay as they are. */
  readonly all: boolean;
  /** Label of the trunk's snapshot before a merge that has just been made; null: none was. */
  readonly merged: string | null;
  readonly problem: Problem | null;
  readonly returned: Returned<"delete"> | null;
}

/** The page. */
export function Branch(props: BranchProps): Html {
  const { visit, at, branch: { ref, purpose, copiedAt, expiresAt } } = props;
  const manages = mayManage(visit, at.namespace);
  return (
    <>
      <Crumbs path={[["Branches", at.base]]} here={ref} />
      <p class="facts">
        <span>{visibleText(purpose)}</span>
        <span>
          <Icon name="branch" size={14} /> copied <Time at={copiedAt} />
        </span>
        <span>
          <Icon name="clock" size={14} /> gone on <Time at={expiresAt} />
        </span>
        <a href={`/console/${at.namespace}/db/${encodeURIComponent(`${at.path}@${ref}`)}/sql`}>
          SQL in this branch
        </a>
      </p>
      <div class={manages ? "beside" : "stack"}>
        <div class="stack">
          <Told {...props} />
          <Changes {...props} />
        </div>
        {manages
          ? (
            <div class="stack">
              <MergeCard
                visit={visit}
                here={`${at.base}/${encodeURIComponent(ref)}`}
                preview={props.preview}
              />
              <Otherwise {...props} />
            </div>
          )
          : null}
      </div>
    </>
  );
}

function Told({ merged, problem, at }: BranchProps): Html | null {
  if (problem !== null) return <Notice tone="bad">{problem.message}</Notice>;
  if (merged === null) return null;
  const snapshots = `/console/${at.namespace}/db/${at.path}/snapshots`;
  return (
    <Notice tone="good">
      The branch is merged. {merged === "" ? "Nothing had to be written." : (
        <>
          What the trunk was before is a{" "}
          <a href={snapshots}>snapshot</a>. The branch stays as it is until you start it over or delete it.
        </>
      )}
    </Notice>
  );
}

function Changes({ diff, preview, all, at, branch }: BranchProps): Html {
  // A merge is shown by what it does to the trunk, which may have changed too.
  const report = preview?.ok ? preview.report : null;
  const { schema, tables } = report === null ? diff : mergedOf(report, preview?.mode);
  const rows = tables.reduce((sum, { added, removed, changed }) => sum + added + removed + changed, 0);
  const won = preview?.onConflict === "theirs" ? report?.conflicts.items ?? [] : [];
  const here = `${at.base}/${encodeURIComponent(branch.ref)}`;
  const chosen = preview === null ? {} : { mode: preview.mode, onConflict: preview.onConflict };
  const hrefOf = (more: Record<string, string>) => {
    const query = new URLSearchParams({ ...chosen, ...more }).toString();
    return query === "" ? here : `${here}?${query}`;
  };
  const nothing = tables.length === 0 && schema.changes.length === 0;
  const room = new PageRoom();
  return (
    <>
      <Card
        id="changes"
        title="What the branch has changed"
        end={tables.length === 0 ? undefined : (
          <Segments
            label="Columns"
            segments={[
              { name: "Changed columns", href: hrefOf({}), current: !all },
              { name: "All", href: hrefOf({ columns: "all" }), current: all },
            ]}
          />
        )}
      >
        <p>
          {nothing
            ? nothingIn(report)
            : `${counted(rows, "row")} of ${counted(tables.length, "table")}, ${
              counted(schema.changes.length, "definition")
            }.`}
          {report !== null && mergesLess(report, preview, rows)
            ? ` The trunk gets ${
              counted(report.rowsWritten, "row")
            }: in the others it is so already, or wins.`
            : null}
        </p>
      </Card>
      <SchemaChanges changes={schema.changes} statements={schema.statements} room={room} />
      {tables.map((diff) => <TableChanges diff={asInTrunk(diff, won)} all={all} room={room} />)}
    </>
  );
}

/** Of what the branch has changed, some may stand in the trunk already, or give way to it. */
function mergesLess({ rowsWritten, conflicts }: MergeReport, preview: MergePreview | null, rows: number) {
  const stopped = conflicts.count > 0 && preview?.onConflict === "abort";
  return preview?.mode === "data" && !stopped && rowsWritten !== rows;
}

function nothingIn(report: MergeReport | null): string {
  if (report !== null) return "Nothing: the branch has changed nothing of that kind.";
  return "Nothing yet: it is what the trunk was when it was copied.";
}

function Otherwise({ visit, at, branch: { ref }, returned }: BranchProps): Html {
  const path = `${at.base}/${encodeURIComponent(ref)}`;
  const message = messageOf(returned, "delete");
  return (
    <Card id="otherwise" title="Or let it go">
      <div class="form">
        <AskFirst
          visit={visit}
          action={`${path}/reset`}
          ask="Start over from the trunk"
          name={`Start over from the trunk: ${ref}`}
          act="Discard what it has changed"
          icon="undo"
        >
          What {ref}{" "}
          has changed is lost: it becomes a fresh copy of the trunk as it is now, and the token of its claim
          ends.
        </AskFirst>
        <Form visit={visit} action={`${path}/delete`} kind="form">
          {message === null ? null : <Notice tone="bad">{message}</Notice>}
          <Field label={`Type ${ref} to delete it`} {...fieldsOf(returned, "delete")("confirm")} required />
          <Button kind="deny" icon="trash">Delete the branch</Button>
        </Form>
      </div>
    </Card>
  );
}
