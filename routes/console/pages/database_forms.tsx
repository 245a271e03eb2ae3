// The forms beside the list of databases: make one, bring one back.
import type { Problem } from "../frame/attempt.ts";
import type { Visit } from "../../http/visit.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import type { Html } from "../parts/html.ts";
import { Notice } from "../parts/notice.tsx";
import type { FormFields } from "../frame/read_form.ts";

/** What a form of this page has sent, and why it comes back. */
export interface Returned {
  readonly form: "create" | "bring-back";
  readonly fields: FormFields;
  readonly problem: Problem;
}

/** What these forms show. */
export interface DatabaseFormsProps {
  readonly visit: Visit;
  readonly namespace: string;
  readonly returned: Returned | null;
}

/** For whoever may manage the namespace. */
export function DatabaseForms({ visit, namespace, returned }: DatabaseFormsProps): Html {
  const of = (form: Returned["form"]) => returned?.form === form ? returned : null;
  const [create, back] = [of("create"), of("bring-back")];
  return (
    <div class="stack">
      <Card id="new" title="New database">
        <Form visit={visit} action={`/console/${namespace}/databases`} kind="form">
          {create?.problem.message ? <Notice tone="bad">{create.problem.message}</Notice> : null}
          <Field
            label="Slug"
            name="slug"
            value={create?.fields.exact("slug") ?? ""}
            problem={create?.problem.fields["slug"]}
            hint="Its part of the address: lower-case letters, digits, hyphens"
            placeholder="shop"
            maxLength={64}
            required
          />
          <Field
            label="Name, for people"
            name="name"
            value={create?.fields.exact("name") ?? ""}
            problem={create?.problem.fields["name"]}
            placeholder="The shop"
            maxLength={200}
          />
          <Button kind="primary" icon="plus">Make the database</Button>
        </Form>
      </Card>
      <Card id="bring-back" title="Bring one back" about="for 7 days">
        <Form visit={visit} action={`/console/${namespace}/databases/bring-back`} kind="form">
          {back?.problem.message ? <Notice tone="bad">{back.problem.message}</Notice> : null}
          <Field
            of="back"
            label="Slug that it had"
            name="slug"
            value={back?.fields.exact("slug") ?? ""}
            problem={back?.problem.fields["slug"]}
            maxLength={64}
            required
          />
          <Field
            of="back"
            label="New slug, if the old one is in use"
            name="into"
            value={back?.fields.exact("into") ?? ""}
            problem={back?.problem.fields["into"]}
            maxLength={64}
          />
          <Button icon="undo">Bring it back</Button>
        </Form>
      </Card>
    </div>
  );
}
