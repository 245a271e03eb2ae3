// What the SQL page shows below the editor, by what came of the text.
import type { Visit } from "../../../http/visit.ts";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import type { SqlForm } from "./sql_form.ts";
import type { SqlAnswer, SqlOutcome } from "./sql_outcome.ts";
import { Held } from "./sql_held_view.tsx";
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
      return <Results visit={visit} base={base} form={form} ran={outcome.ran} />;
    case "planned":
      return <Plans planned={outcome.planned} statements={prepared.statements} text={form.text} />;
    case "proposed":
      return <Proposal visit={visit} base={base} form={form} proposed={outcome.proposed} />;
    case "written":
      return <Written base={base} tables={outcome.tables} meta={outcome.meta} />;
    case "held":
      return <Held visit={visit} base={base} text={form.text} {...outcome.held} />;
    case "failed":
      return <Failure failure={outcome.failure} statements={prepared.statements} text={form.text} />;
  }
}
