// The form of a specification: what it is, what it runs, what it asks for, and its gates. What is wrong stands beside its
// field, while one types too.
import type { Issue } from "../../../../lib/core/errors.ts";
import type { Visit } from "../../../http/visit.ts";
import { Button } from "../../parts/button.tsx";
import { Check } from "../../parts/check.tsx";
import { Field, type FieldProps } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Form } from "../../parts/form.tsx";
import type { Html } from "../../parts/html.ts";
import { Notice } from "../../parts/notice.tsx";
import { type FormValues, shownInputs } from "./endpoint_form.ts";
import { EndpointInput, fieldsOf, hasAny } from "./endpoint_input_view.tsx";

/** What the form shows. */
export interface SpecFormProps {
  readonly visit: Visit;
  /** Where it is saved, and where it is only checked. */
  readonly action: string;
  readonly check: string;
  readonly isNew: boolean;
  readonly values: FormValues;
  /** What is wrong; null: it was not checked. */
  readonly issues: readonly Issue[] | null;
  readonly message: string | null;
  /** Placeholders of a statement that is handed over: each wants an input. */
  readonly wanted?: number;
  /** Shows the gates at once: somebody was led here to set one. */
  readonly showsGates?: boolean;
}

type Choices = NonNullable<FieldProps["choices"]>;
const kinds: Choices = [
  ["query", "Query"],
  ["mutation", "Mutation"],
  ["auth_signup", "Sign-up"],
  ["auth_login", "Log-in"],
  ["auth_password", "Change of a password"],
  ["auth_reset", "Reset of a forgotten password"],
  ["auth_verify", "Verification of an address"],
  ["auth_logout", "Log-out"],
  ["auth_refresh", "Refresh of a session"],
  ["ask", "Questions in words"],
];
const methods: Choices = [["GET", "GET"], ["POST", "POST"]];
const outputs: Choices = [
  ["rows", "Rows"],
  ["first_row", "The first row"],
  ["page", "A page of a list"],
  ["rows_written", "How many rows were written"],
  ["bytes", "Bytes"],
  ["session", "A session"],
  ["done", "That it is done"],
  ["answer", "An answer in words"],
];
const auths: Choices = [["", "Anybody"], ["public", "Anybody, said outright"], [
  "session",
  "Whoever is logged in",
]];
/** For whoever may manage endpoints. */
export function SpecForm(props: SpecFormProps): Html {
  const { visit, action, check, isNew, values, issues, message, wanted = 0, showsGates = false } = props;
  const field = fieldsOf(props);
  return (
    <Form
      id="spec"
      visit={visit}
      action={action}
      kind="form"
      hidden={isNew ? {} : { revision: values["revision"] ?? "" }}
      more={{
        "hx-post": check,
        "hx-trigger": "input delay:400ms",
        "hx-target": "#found",
        "hx-select": "#found",
        "hx-swap": "outerHTML",
        "hx-sync": "this:replace",
      }}
    >
      {message === null ? null : <Notice tone="bad">{message}</Notice>}
      {isNew
        ? (
          <Field
            label="Slug"
            {...field("slug")}
            hint="Its part of the address: lower-case letters, digits, hyphens"
            placeholder="orders-of-day"
            required
          />
        )
        : null}
      <Field label="Name" {...field("name")} maxLength={200} required />
      <Field label="What it is for" {...field("description")} type="textarea" maxLength={2000} />
      <div class="columns">
        <Field label="Kind" {...field("kind")} choices={kinds} />
        <Field label="Method" {...field("method")} choices={methods} />
        <Field label="Answers" {...field("output")} choices={outputs} />
      </div>
      <Field
        label="Statement"
        {...field("sql")}
        type="textarea"
        code
        hint="? for each input, in their order, or :name for each; a mutation may have several statements; empty for questions in words, and for accounts but sign-up and log-in"
        placeholder="SELECT id, total FROM orders WHERE id = ?"
      />
      <fieldset>
        <legend>Inputs</legend>
        {Array.from(
          { length: shownInputs(values, wanted) },
          (_, at) => <EndpointInput at={at} values={values} issues={issues} wanted={wanted} />,
        )}
      </fieldset>
      <Fold
        title="The answer: what its columns mean, pages, type of its bytes"
        open={hasAny(values, answers)}
      >
        <div class="form">
          <Field
            label="Columns that are boolean or json, one a line"
            {...field("outputTypes")}
            type="textarea"
            placeholder="done boolean"
          />
          <Field
            label="Key of a list, a column a line"
            {...field("listKey")}
            type="textarea"
            placeholder="id"
          />
          <Field
            label="Filters of a list, one a line"
            {...field("listFilters")}
            type="textarea"
            placeholder="status = status"
            hint="Input, =, >=, <=, > or <, column; sort, limit, cursor and total are inputs with those names"
          />
          <Field label="Content-Type of bytes" {...field("contentType")} placeholder="image/png" />
        </div>
      </Fold>
      <Fold
        id="gates"
        title="Gates: sessions, limits, captcha, origins"
        open={showsGates || hasAny(values, gates)}
      >
        <div class="form">
          <Field label="Who may call" {...field("auth")} choices={auths} />
          <div class="columns">
            <Field label="Calls a minute and address" {...field("perMin")} />
            <Field label="Calls a day and address" {...field("perDay")} />
            <Field label="Seconds in caches" {...field("cacheSec")} />
          </div>
          <Check label="Ask for a captcha" name="captcha" checked={values["captcha"] !== undefined} />
          <Field label="Origins of pages that may call, one a line" {...field("cors")} type="textarea" />
        </div>
      </Fold>
      <Fold title="Accounts: users, sessions, links by mail" open={hasAny(values, accounts)}>
        <div class="form">
          <Field
            label="Table of the users"
            {...field("usersTable")}
            hint="Its password column is password_hash"
          />
          <Field label="Column of the e-mail" {...field("emailColumn")} placeholder="email" />
          <div class="columns">
            <Field label="Seconds that a session lives" {...field("sessionTtlSec")} placeholder="86400" />
            <Field label="Seconds with refreshes" {...field("sessionTotalSec")} placeholder="2592000" />
          </div>
          <Field label="Page that resets passwords" {...field("resetUrl")} />
          <Field label="Page that verifies addresses" {...field("verifyUrl")} />
          <Field label="Column of the verification" {...field("verifiedColumn")} placeholder="verified_at" />
          <Field label="Subject of the mail" {...field("mail.subject")} />
          <Field label="Text of the mail, with {{link}}" {...field("mail.text")} type="textarea" />
        </div>
      </Fold>
      <Fold title="Questions in words" open={hasAny(values, questions)}>
        <div class="form">
          <Field label="Tables that may be read, one a line" {...field("allowedTables")} type="textarea" />
          <Field label="What helps to understand" {...field("context")} type="textarea" />
          <Field label="Rows at most" {...field("maxRows")} placeholder="100" />
        </div>
      </Fold>
      <Found issues={issues} />
      <div class="end">
        <Button kind="primary" icon="check">{isNew ? "Make the draft" : "Save"}</Button>
        <button class="button" type="submit" formaction={check}>Check it only</button>
      </div>
    </Form>
  );
}

const gates = ["auth", "perMin", "perDay", "cacheSec", "captcha", "cors"];
const answers = ["outputTypes", "listKey", "listFilters", "contentType"];
const accounts = [
  ...["usersTable", "emailColumn", "sessionTtlSec", "sessionTotalSec", "resetUrl", "verifyUrl"],
  ...["verifiedColumn", "mail.subject", "mail.text"],
];
const questions = ["allowedTables", "context", "maxRows"];

function Found({ issues }: { issues: readonly Issue[] | null }): Html {
  return (
    <div id="found" role="status">
      {issues === null
        ? null
        : issues.length === 0
        ? <Notice tone="good">It can be saved like this.</Notice>
        : (
          <Notice tone="warn">
            <ul>{issues.map(({ path, message }) => <li>{`${path}: ${message}`}</li>)}</ul>
          </Notice>
        )}
    </div>
  );
}
