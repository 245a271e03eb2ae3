// A form to try an endpoint, and what came of it.
import type { EndpointView } from "../../../../lib/services/endpoints/endpoint_context.ts";
import type { Visit } from "../../../http/visit.ts";
import type { FormFields } from "../../frame/read_form.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/card.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { visibleLines, visibleText } from "../../parts/visible_text.ts";

/** A call that was tried. */
export interface Tried {
  readonly fields: FormFields;
  readonly status: number;
  /** As /p would answer. */
  readonly body: unknown;
  /** The failure as its owner is told it, where strangers are told less. */
  readonly cause: unknown;
}

/** What the card shows. */
export interface TryProps {
  readonly visit: Visit;
  readonly endpoint: EndpointView;
  /** Where the endpoint stands. */
  readonly path: string;
  readonly tried: Tried | null;
}

/** For whoever may manage endpoints. */
export function TryCard({ visit, endpoint, path, tried }: TryProps): Html {
  const inputs = endpoint.input.filter(({ name }) => !name.startsWith("$"));
  const typed = (name: string) => tried?.fields.exact(name) ?? "";
  return (
    <Card id="try" title="Try it" about="gates aside">
      <div class="stack">
        <Form visit={visit} action={`${path}/test#try`} kind="form">
          {inputs.map(({ name, label, type, required }) => (
            <Field
              label={visibleText(label ?? name)}
              name={`in.${name}`}
              value={typed(`in.${name}`)}
              hint={required === true ? type : `${type}, may be left empty`}
            />
          ))}
          {endpoint.auth === "session"
            ? (
              <>
                <Field label="As the user with this id" name="userId" value={typed("userId")} />
                <Field label="and this e-mail" name="email" value={typed("email")} />
              </>
            )
            : null}
          <p class="note">
            {endpoint.kind === "query" || endpoint.kind === "ask"
              ? "It runs on the database as it is."
              : "It runs on the database as it is, and what it writes stays."}
          </p>
          <Button icon="play">Try it</Button>
        </Form>
        {tried === null ? null : <Outcome {...tried} />}
      </div>
    </Card>
  );
}

function Outcome({ status, body, cause }: Tried): Html {
  return (
    <Notice tone={status < 400 ? "good" : "warn"}>
      <Pill tone={status < 400 ? "good" : "bad"}>{String(status)}</Pill>
      <Json about="What it answered" value={body} />
      {cause === undefined ? null : (
        <>
          <p class="note">What only you are told of it:</p>
          <Json about="What only you are told" value={cause} />
        </>
      )}
    </Notice>
  );
}

function Json({ about, value }: { readonly about: string; readonly value: unknown }): Html {
  return (
    <pre class="json" tabindex={0} role="region" aria-label={about}><code>{
      visibleLines(JSON.stringify(value, null, 2).slice(0, SHOWN))
    }</code></pre>
  );
}

/** Characters of an answer that are shown. */
const SHOWN = 20_000;
