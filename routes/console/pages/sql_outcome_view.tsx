// What the SQL page shows below the editor, by what came of the text.
import type { Visit } from "../../http/visit.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Form } from "../parts/form.tsx";
import type { Html } from "../parts/html.ts";
import { Notice } from "../parts/notice.tsx";
import type { SqlForm } from "./sql_form.ts";
import type { SqlAnswer, SqlOutcome } from "./sql_outcome.ts";
import { Plans } from "./sql_plan_view.tsx";
import { Proposal } from "./sql_proposal_view.tsx";
import { Failure, Results, Written } from "./sql_result_view.tsx";

/** What the views need beside the outcome. */
export interface OutcomeProps {
  readonly visit: Visit;
  /** `/console/<namespace>/db/<database>`. */
  readonly base: string;
  readonly form: SqlForm;
  readonly answer: SqlAnswer;
}

/** The piece of the page that is put in the place of the one before. */
export function Outcome(props: OutcomeProps): Html {
  const failure = failureOf(props.answer.outcome);
  return (
    <div
      id="outcome"
      class="stack"
      data-failed-from={failure?.span ? String(failure.span.from) : undefined}
      data-failed-to={failure?.span ? String(failure.span.to) : undefined}
    >
      <Shown {...props} />
    </div>
  );
}

function failureOf(outcome: SqlOutcome) {
  if (outcome.kind === "failed") return outcome.failure;
  if (outcome.kind === "ran") return outcome.ran.failure;
  return outcome.kind === "planned" ? outcome.planned.failure : null;
}

function Shown(props: OutcomeProps): Html | null {
  const { visit, base, form, answer: { outcome, prepared } } = props;
  switch (outcome.kind) {
    case "nothing":
      return null;
    case "incomplete":
      return <Notice tone="warn">{outcome.message}.</Notice>;
    case "ran":
      return <Results visit={visit} base={base} form={form} ran={outcome.ran} page={outcome.page} />;
    case "planned":
      return <Plans planned={outcome.planned} statements={prepared.statements} text={form.text} />;
    case "proposed":
      return <Proposal visit={visit} base={base} form={form} proposed={outcome.proposed} />;
    case "written":
      return <Written base={base} tables={outcome.tables} meta={outcome.meta} />;
    case "held":
      return <Held visit={visit} base={base} form={form} {...outcome.held} />;
    case "failed":
      return <Failure failure={outcome.failure} statements={prepared.statements} text={form.text} />;
  }
}

interface HeldProps {
  readonly visit: Visit;
  readonly base: string;
  readonly form: SqlForm;
  readonly message: string;
  readonly approvalUrl: string | null;
  readonly approvalToken: string;
}

/** The token stays with who asked: this form is the only place that has it. */
function Held({ visit, base, form, message, approvalUrl, approvalToken }: HeldProps): Html {
  return (
    <Card id="outcome-title" title="A rule holds this write">
      <div class="form">
        <p>
          {message}. Nothing has changed. Keep this page open: once a person has approved the write, it runs
          from here, once.
        </p>
        <div class="end">
          {approvalUrl === null ? null : (
            <Button kind="primary" href={approvalUrl} icon="approvals">
              Open the approval
            </Button>
          )}
          <Form
            visit={visit}
            action={`${base}/sql`}
            hidden={{ sql: form.text, approval: approvalToken, do: "redeem" }}
          >
            <Button icon="play">Run it, it is approved</Button>
          </Form>
        </div>
      </div>
    </Card>
  );
}
