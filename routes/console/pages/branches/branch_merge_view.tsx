// The merge of a branch: first what it would do, then the button that does exactly that.
import type { MergeInput } from "../../../../lib/services/branches/merge_answer.ts";
import type { MergeReport } from "../../../../lib/sql/service/branch_report.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { MergedBefore } from "../../parts/merged_before.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Conflicts } from "./branch_conflict_view.tsx";

type Chosen = Pick<MergeInput, "mode" | "onConflict">;

/** What a merge would do, or why it cannot be done. */
export type MergePreview =
  & Chosen
  & (
    | { readonly ok: true; readonly report: MergeReport; readonly seen: string }
    | { readonly ok: false; readonly message: string }
  );

/** What the card shows. */
export interface MergeCardProps {
  readonly visit: Visit;
  /** The address of the branch's page. */
  readonly here: string;
  readonly preview: MergePreview | null;
}

const modes = [["data", "Its rows"], ["schema", "Its definitions"]] as const;
const sides = [
  ["abort", "Nothing is merged"],
  ["theirs", "The branch wins"],
  ["ours", "The trunk wins"],
] as const;

/** For whoever may merge. */
export function MergeCard({ visit, here, preview }: MergeCardProps): Html {
  return (
    <Card id="merge" title="Merge it into the trunk">
      <div class="form">
        <Form visit={visit} action={here} method="get" kind="form">
          <Field label="What" name="mode" value={preview?.mode ?? "data"} choices={modes} />
          <Field
            label="Where both have changed something"
            name="onConflict"
            value={preview?.onConflict ?? "abort"}
            choices={sides}
          />
          <Button icon="search">Show what it does</Button>
        </Form>
        {preview === null ? null : <Previewed visit={visit} here={here} preview={preview} />}
      </div>
    </Card>
  );
}

function Previewed({ visit, here, preview }: MergeCardProps & { preview: MergePreview }): Html {
  if (!preview.ok) return <Notice tone="bad">{preview.message}</Notice>;
  const { report, mode, onConflict, seen } = preview;
  const { conflicts, rowsWritten, statementsRun, writes } = report;
  const stopped = conflicts.count > 0 && onConflict === "abort";
  const nothing = writes.length === 0;
  const what = mode === "data" ? counted(rowsWritten, "row") : counted(statementsRun, "statement");
  return (
    <>
      {conflicts.count === 0 ? null : (
        <Notice tone={stopped ? "bad" : "warn"}>
          {counted(conflicts.count, "conflict")}
          {stopped ? ": choose who wins, or change the branch." : ", settled as chosen."}
          <Conflicts report={report} />
        </Notice>
      )}
      {nothing ? null : <MergedBefore report={report} />}
      {nothing && !stopped ? <p class="note">There is nothing to merge that way.</p> : null}
      {stopped || nothing
        ? null
        : (
          <Form visit={visit} action={`${here}/merge`} hidden={{ mode, onConflict, seen }} kind="form">
            <p class="note">
              Exactly what is shown happens, or nothing. A snapshot of the trunk is taken first.
            </p>
            <Button kind="approve" icon="branch" wide>Merge {what}</Button>
          </Form>
        )}
    </>
  );
}
