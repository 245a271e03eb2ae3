// A write before it runs: what it would change, row by row, and the button that runs exactly this.
import type { WritePreview } from "../../../../lib/services/proposals/preview_writes.ts";
import type { ProposedText } from "../../../../lib/services/editor/propose_text.ts";
import { planSteps } from "../../../../lib/services/editor/explain_text.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { counted, whole } from "../../parts/figures.ts";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { DiffGrid, diffRows } from "../../parts/diff_grid.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { PlanSteps } from "./sql_plan_view.tsx";
import { againFields } from "./sql_again.ts";
import type { SqlForm } from "./sql_form.ts";
import { StatementHead } from "./sql_result_view.tsx";

/** A proposal and where it is answered. */
export interface ProposalProps {
  readonly visit: Visit;
  readonly base: string;
  readonly form: SqlForm;
  readonly proposed: ProposedText;
}

/** The execution token stands in this form only: it runs the write once, within a quarter of an hour. */
export function Proposal({ visit, base, form, proposed }: ProposalProps): Html {
  const { statements, executionToken } = proposed;
  const hidden = { ...againFields(form, null), execution: executionToken, do: "apply" };
  const denied = statements.some(({ rule }) => rule === "deny");
  const held = statements.some(({ rule }) => rule === "require_approval");
  return (
    <Card
      id="proposal"
      title={sentence(proposed)}
      about="Nothing has changed yet."
      kind="result"
      full
      foot={denied
        ? (
          <span>
            A rule denies this write, whoever runs it. <a href={`${base}/rules`}>See the rules</a>
          </span>
        )
        : (
          <Form visit={visit} action={`${base}/sql`} hidden={hidden} kind="end">
            <Button kind="primary" icon={held ? "approvals" : "check"}>{runWords(proposed, held)}</Button>
            <span class="note">
              {held
                ? "A rule holds it: nothing runs until an admin has approved it."
                : "Once, as shown, within 15 minutes."}
              {statements.some(({ action }) => action === "schema")
                ? " A change of the schema takes a snapshot first."
                : ""}
            </span>
          </Form>
        )}
    >
      {statements.map((one, index) => <Statement preview={one} index={index} count={statements.length} />)}
    </Card>
  );
}

function runWords({ rows }: ProposedText, held: boolean): string {
  const count = rows === null ? "" : counted(rows, "row");
  if (held) return count === "" ? "Ask for approval" : `Ask for approval of ${count}`;
  return count === "" ? "Run it" : `Change ${count}`;
}

function sentence({ rows, statements }: ProposedText): string {
  if (rows === null) {
    if (statements.length > 1) return `${statements.length} statements, all or none`;
    return statements[0]?.action === "schema"
      ? "This changes the schema"
      : "What this would change is not known";
  }
  const what = rows === 0 ? "This would change no row" : `This would change ${counted(rows, "row")}`;
  return statements.length === 1 ? what : `${what}, all or none`;
}

function Statement({ preview, index, count }: { preview: WritePreview; index: number; count: number }): Html {
  const { plan, preview: shown, estimatedAffectedRows: own, cascadedRows, action } = preview;
  const listed = Math.max(shown?.before.length ?? 0, shown?.after.length ?? 0);
  return (
    <div class="proposed">
      <StatementHead sql={preview.sql} index={index} count={count} />
      <p class="note body">
        {effectText(action, own, cascadedRows)}
        {shown !== null && own !== null && own > listed ? `; the first ${whole(listed)} are shown` : ""}
      </p>
      {shown === null ? null : (
        <DiffGrid
          label={`Rows of ${visibleText(shown.table)}`}
          columns={shown.columns}
          keys={shown.columns.slice(0, 1)}
          rows={diffRows(shown)}
          all
        />
      )}
      {plan.length === 0 ? null : (
        <details class="fold body">
          <summary>Plan</summary>
          <PlanSteps steps={planSteps(plan)} />
        </details>
      )}
    </div>
  );
}

function effectText(action: WritePreview["action"], own: number | null, cascaded: number | null): string {
  if (action === "read") return "Only reads";
  if (cascaded === null) return "It takes too long to be tried, so what it would change is not known";
  if (own === null) {
    return cascaded > 0 ? `Changes the schema, and ${counted(cascaded, "row")}` : "Changes the schema";
  }
  const more = cascaded > 0 ? `, and ${counted(cascaded, "row")} more by triggers and foreign keys` : "";
  return `${counted(own, "row")}${more}`;
}
