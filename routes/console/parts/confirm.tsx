// Before something goes for good: what goes, and for the dangerous the name once more.
import type { Visit } from "../../http/visit.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";
import type { Children, Html } from "./html.ts";
import { Notice } from "./notice.tsx";

/** A question before an act. */
export interface ConfirmProps {
  readonly visit: Visit;
  readonly title: string;
  /** Where the form goes. */
  readonly action: string;
  /** What the button says, naming what goes. */
  readonly act: string;
  /** Where one goes who does not. */
  readonly back: string;
  /** What has to be typed; absent: nothing. */
  readonly typed?: { readonly slug: string; readonly value: string; readonly problem: string | undefined };
  readonly message?: string | null;
  /** What happens, in sentences. */
  readonly children?: Children;
}

/** The page's content. */
export function Confirm({ visit, title, action, act, back, typed, message, children }: ConfirmProps): Html {
  return (
    <section class="card narrow" aria-labelledby="confirm">
      <div class="body form">
        <h1 id="confirm">{title}</h1>
        {children}
        <Form visit={visit} action={action} kind="form">
          {message === undefined || message === null ? null : <Notice tone="bad">{message}</Notice>}
          {typed === undefined ? null : (
            <Field
              label={`Type ${typed.slug} to confirm`}
              name="confirm"
              value={typed.value}
              problem={typed.problem}
              required
              autofocus
            />
          )}
          <div class="end">
            <Button kind="danger" icon="trash">{act}</Button>
            <Button href={back}>Keep it</Button>
          </div>
        </Form>
      </div>
    </section>
  );
}
