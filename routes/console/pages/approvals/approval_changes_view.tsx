// What a held call would do: rows, statements with their values, the engine's plan; of merges and restores the report.
import type { RowPreview } from "../../../../lib/engine/statement_effect.ts";
import { isFullScan } from "../../../../lib/services/editor/explain_text.ts";
import type { ApprovalPage } from "../../../../lib/services/approvals/read_approvals.ts";
import { Card } from "../../parts/card.tsx";
import { changingColumns, DiffGrid, diffRows } from "../../parts/diff_grid.tsx";
import { Digest } from "../../parts/digest.tsx";
import { counted, whole } from "../../parts/figures.ts";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { LONGEST_SQL } from "../../parts/page_room.tsx";
import { Pairs } from "../../parts/pairs.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Segments } from "../../parts/segments.tsx";
import { SqlText } from "../../parts/sql_text.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { MergeChanges, RestoreChanges } from "./approval_reports_view.tsx";
import { type ChangesProps, Seen } from "./approval_seen_view.tsx";
import { Params, ParamSets } from "./approval_values_view.tsx";
import { isUnseen } from "./approval_words.ts";

/** Rows that are shown before somebody asks for all: on a phone each is a card. */
const FEW_ROWS = 10;

/** The cards in their order: changes, then what runs and how. */
export function Changes(props: ChangesProps): Html {
  const { approval } = props;
  if (approval.merge) return <MergeChanges {...props} merge={approval.merge} />;
  if (approval.restore) return <RestoreChanges {...props} restore={approval.restore} />;
  return (
    <>
      {approval.migrations === null ? null : <FilesCard files={approval.migrations} />}
      {approval.effects.map(({ preview }, index) =>
        preview === null ? null : <RowsCard {...props} preview={preview} index={index} />
      )}
      {approval.effects.some(({ preview }) => preview !== null) ? null : <NoRows {...props} />}
      {approval.statements.map((_, index) => <StatementCard {...props} index={index} />)}
      <PlanCard approval={approval} />
    </>
  );
}

/** Migration files in the order in which they are applied. */
function FilesCard({ files }: { files: NonNullable<ApprovalPage["migrations"]> }): Html {
  return (
    <Card
      id="files"
      title="Migration files"
      about="each is applied whole, in this order, as long as the schema is what it was"
    >
      <Pairs
        pairs={files.map(({ name, sha256, statements }) => ({
          name: visibleText(name),
          kind: counted(statements, "statement"),
          value: <Digest of={sha256} />,
        }))}
      />
    </Card>
  );
}

function RowsCard(props: ChangesProps & { readonly preview: RowPreview; readonly index: number }): Html {
  const { approval, room, preview, index, all, allRows, path } = props;
  const rows = diffRows(preview);
  const listed = allRows ? rows : rows.slice(0, FEW_ROWS);
  const own = approval.effects[index]?.ownRows ?? rows.length;
  const shown = { columns: preview.columns, rows };
  const changing = changingColumns(shown);
  // Of a row that comes or goes every value counts.
  const comeOrGo = rows.some(({ before, after }) => before === null || after === null);
  const hides = !comeOrGo && changing + 2 < preview.columns.length;
  const several = approval.statements.length > 1 ? `, statement ${index + 1}` : "";
  // Where a table is wider than its card, the number says that there is more to scroll to.
  const columns = changing > 1 ? `, ${counted(changing, "column")}` : "";
  const title = preview.after.length === 0
    ? "What is deleted"
    : preview.before.length === 0
    ? "What is added"
    : "What changes";
  return (
    <Card
      id={`changes-${index}`}
      title={title}
      about={`${listed.length < own ? `${whole(listed.length)} of ` : ""}${
        counted(own, "row")
      }${columns}${several}`}
      end={hides ? <ColumnChoice {...props} count={preview.columns.length} /> : undefined}
      full
      foot={<Seen {...props} />}
    >
      <DiffGrid
        label={`Rows of ${visibleText(preview.table)}, before and after`}
        columns={preview.columns}
        keys={preview.keys ?? []}
        rows={listed}
        all={all || comeOrGo}
        room={room}
      />
      {listed.length === rows.length ? null : (
        <p class="body more">
          <a href={viewPath(path, { all, allRows: true })}>
            {rows.length < own
              ? `Show the first ${whole(rows.length)} rows`
              : `Show all ${counted(own, "row")}`}
          </a>
        </p>
      )}
    </Card>
  );
}

/** The same page with other columns or rows. */
function viewPath(path: string, { all, allRows }: Pick<ChangesProps, "all" | "allRows">): string {
  const query = [all ? "columns=all" : "", allRows ? "rows=all" : ""].filter((one) => one !== "").join("&");
  return query === "" ? path : `${path}?${query}`;
}

function ColumnChoice({ path, all, allRows, count }: ChangesProps & { readonly count: number }): Html {
  return (
    <Segments
      label="Columns"
      segments={[
        { name: "Changed columns", href: viewPath(path, { all: false, allRows }), current: !all },
        { name: `All ${count}`, href: viewPath(path, { all: true, allRows }), current: all },
      ]}
    />
  );
}

function NoRows(props: ChangesProps): Html {
  const text = isUnseen(props.approval)
    ? "What it would change could not be found out in time: it took longer than a look may take. The statement itself is below. Approved, it runs as it is, on these tables and whatever number of rows that is."
    : "Rows are shown of an INSERT, UPDATE or DELETE of one table. What this does stands in the statement and its values.";
  return (
    <Card id="changes" title="What changes" foot={<Seen {...props} />}>
      <p>{text}</p>
    </Card>
  );
}

function StatementCard({ approval, room, index }: ChangesProps & { readonly index: number }): Html | null {
  const statement = approval.statements[index];
  if (statement === undefined) return null;
  const { sql, params } = statement;
  const count = approval.statements.length;
  return (
    <Card
      id={`statement-${index}`}
      title={count > 1 ? `Statement ${index + 1} of ${count}` : "Statement"}
      about="runs as written, once"
      end={sql.length > LONGEST_SQL ? undefined : (
        <button
          class="button small needs-script"
          type="button"
          data-copy={sql}
          aria-label="Copy the statement"
        >
          <Icon name="copy" size={14} />
          <span>Copy</span>
        </button>
      )}
      full
    >
      <SqlText
        sql={sql}
        label={count > 1 ? `Text of statement ${index + 1}` : "Text of the statement"}
        room={room}
      />
      {approval.paramSets === null ? null : <ParamSets sets={approval.paramSets} room={room} />}
      {params.length === 0 ? null : <Params params={params} room={room} />}
    </Card>
  );
}

function PlanCard({ approval: { plan } }: { approval: ApprovalPage }): Html | null {
  const steps = plan.map((row) => String(row.at(-1) ?? ""));
  if (steps.length === 0) return null;
  const scans = steps.filter(isFullScan).length;
  return (
    <Card
      id="plan"
      title="Query plan"
      end={scans > 0
        ? <Pill tone="warn" icon="alert">{counted(scans, "full scan")}</Pill>
        : (
          <Pill tone="good" icon="check">
            {steps.some((step) => step.startsWith("SEARCH ")) ? "Uses an index" : "No full scan"}
          </Pill>
        )}
    >
      <ul class="plan">
        {steps.map((step) => (
          <li class={isFullScan(step) ? "warn" : undefined}>
            <Icon name={isFullScan(step) ? "alert" : "search"} size={14} />
            <span>{visibleText(step)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
