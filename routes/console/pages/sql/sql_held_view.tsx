// A write that a rule holds: where it is approved, and the form that runs it afterwards.
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";

/** The write, and where its form is sent. */
export interface HeldProps {
  readonly visit: Visit;
  readonly base: string;
  /** The statement that is held. */
  readonly text: string;
  readonly message: string;
  readonly approvalUrl: string | null;
  readonly approvalToken: string;
}

/** The token stays with who asked: this form is the only place that has it. */
export function Held({ visit, base, text, message, approvalUrl, approvalToken }: HeldProps): Html {
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
            hidden={{ sql: text, approval: approvalToken, do: "redeem" }}
          >
            <Button icon="play">Run it, it is approved</Button>
          </Form>
        </div>
      </div>
    </Card>
  );
}
