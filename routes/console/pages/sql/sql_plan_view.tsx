// The engine's plans, a step a line; what reads a whole table is amber.
import type { TextFailure, TextStatement } from "../../../../lib/services/editor/text_context.ts";
import type { ExplainedText, PlanStep } from "../../../../lib/services/editor/explain_text.ts";
import { Card } from "../../parts/card.tsx";
import type { Html } from "../../parts/html.ts";
import { Icon } from "../../parts/icon.tsx";
import { visibleText } from "../../parts/visible_text.ts";
import { Failure, StatementHead } from "./sql_result_view.tsx";

/** What the view shows. */
export interface PlansProps {
  readonly planned: ExplainedText;
  readonly statements: readonly TextStatement[];
  readonly text: string;
}

/** A card for each statement. */
export function Plans({ planned, statements, text }: PlansProps): Html {
  const failure: TextFailure | null = planned.failure;
  return (
    <>
      {planned.plans.map(({ sql, steps }, index) => (
        <Card id={`plan-${index}`} title="Plan" about="How the engine would run it. Nothing has run.">
          <StatementHead sql={sql} index={index} count={statements.length} />
          <PlanSteps steps={steps} />
        </Card>
      ))}
      {failure === null ? null : <Failure failure={failure} statements={statements} text={text} />}
    </>
  );
}

/** The steps, each below what it is part of. */
export function PlanSteps({ steps }: { steps: readonly PlanStep[] }): Html {
  if (steps.length === 0) return <p class="note">The engine has no plan for this statement.</p>;
  return (
    <ol class="plan">
      {steps.map(({ text, depth, fullScan }) => (
        <li class={`depth-${Math.min(depth, 6)}${fullScan ? " warn" : ""}`}>
          {fullScan ? <Icon name="alert" size={14} /> : <Icon name="chevronRight" size={14} />}
          <span>
            {visibleText(text)}
            {fullScan ? <small>, reads the whole table</small> : null}
          </span>
        </li>
      ))}
    </ol>
  );
}
