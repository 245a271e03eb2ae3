// The forms beside the list of databases: make one, bring one back.
import type { Visit } from "../../../http/visit.ts";
import { fieldsOf, messageOf, type Returned } from "../../frame/returned.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Field } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";

/** What these forms show. */
export interface DatabaseFormsProps {
  readonly visit: Visit;
  readonly namespace: string;
  readonly returned: Returned<"create" | "bring-back"> | null;
}

/** For whoever may manage the namespace. */
export function DatabaseForms({ visit, namespace, returned }: DatabaseFormsProps): Html {
  const [create, back] = [fieldsOf(returned, "create"), fieldsOf(returned, "bring-back")];
  const [notMade, notBack] = [messageOf(returned, "create"), messageOf(returned, "bring-back")];
  return (
    <div class="stack">
      <Card id="new" title="New database">
        <Form visit={visit} action={`/console/${namespace}/databases`} kind="form">
          {notMade === null ? null : <Notice tone="bad">{notMade}</Notice>}
          <Field
            {...create("slug")}
            label="Slug"
            hint="Its part of the address: lower-case letters, digits, hyphens"
            placeholder="shop"
            maxLength={64}
            required
          />
          <Field {...create("name")} label="Name, for people" placeholder="The shop" maxLength={200} />
          <Button kind="primary" icon="plus">Make the database</Button>
        </Form>
      </Card>
      <Fold title="Bring a deleted one back" open={returned?.form === "bring-back"}>
        <Form visit={visit} action={`/console/${namespace}/databases/bring-back`} kind="form">
          {notBack === null ? null : <Notice tone="bad">{notBack}</Notice>}
          <Field
            {...back("slug")}
            of="back"
            label="Slug that it had"
            hint="Deleted less than 7 days ago"
            maxLength={64}
            required
          />
          <Field {...back("into")} of="back" label="New slug, if the old one is in use" maxLength={64} />
          <Button icon="undo">Bring it back</Button>
        </Form>
      </Fold>
    </div>
  );
}
