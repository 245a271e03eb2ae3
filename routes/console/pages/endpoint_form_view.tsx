// The form of a specification: what it is, what it runs, what it asks for, and its gates. What is wrong stands beside its
// field, while one types too.
import { fieldSpec } from "../../../lib/core/endpoint_spec.ts";
import type { Issue } from "../../../lib/core/errors.ts";
import type { Visit } from "../../http/visit.ts";
import { Button } from "../parts/button.tsx";
import { Check } from "../parts/check.tsx";
import { Field, type FieldProps } from "../parts/field.tsx";
import { Fold } from "../parts/fold.tsx";
import { Form } from "../parts/form.tsx";
import type { Html } from "../parts/html.ts";
import { Notice } from "../parts/notice.tsx";
import { fieldOfIssue, type FormValues, nameIn, shownInputs } from "./endpoint_form.ts";

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
  ["ask", "Questions in words"],
];
const methods: Choices = [["GET", "GET"], ["POST", "POST"]];
const outputs: Choices = [
  ["rows", "Rows"],
  ["first_row", "The first row"],
  ["rows_written", "How many rows were written"],
  ["session", "A session"],
  ["answer", "An answer in words"],
];
const auths: Choices = [["", "Anybody"], ["public", "Anybody, said outright"], [
  "session",
  "Whoever is logged in",
]];
const types: Choices = fieldSpec.shape.type.options.map((
  one,
) => [one, one]);

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
        hint="? for each input, in their order, or :name for each; empty for questions in words"
        placeholder="SELECT id, total FROM orders WHERE id = ?"
      />
      <fieldset>
        <legend>Inputs</legend>
        {Array.from({ length: shownInputs(values, wanted) }, (_, at) => <Input at={at} {...props} />)}
      </fieldset>
      <Fold title="The answer: what its columns mean, type of its bytes" open={hasAny(values, answers)}>
        <div class="form">
          <Field
            label="Columns that are boolean or json, one a line"
            {...field("outputTypes")}
            type="textarea"
            placeholder="done boolean"
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
      <Fold title="Accounts: sign-up and log-in" open={hasAny(values, accounts)}>
        <div class="form">
          <Field
            label="Table of the users"
            {...field("usersTable")}
            hint="Its password column is password_hash"
          />
          <Field label="Column of the e-mail" {...field("emailColumn")} placeholder="email" />
          <Field label="Seconds that a session lives" {...field("sessionTtlSec")} placeholder="86400" />
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
const answers = ["outputTypes", "contentType"];
const accounts = ["usersTable", "emailColumn", "sessionTtlSec"];
const questions = ["allowedTables", "context", "maxRows"];

function hasAny(values: FormValues, names: readonly string[]): boolean {
  return names.some((name) => (values[name] ?? "") !== "");
}

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

/** Closed where it says all of itself in its title. */
function Input(props: SpecFormProps & { at: number }): Html {
  const { at, values, issues, wanted = 0 } = props;
  const field = fieldsOf(props);
  const own = (name: string) => field(nameIn(at, name));
  const name = values[nameIn(at, "name")] ?? "";
  const more = ["label", "default", "min", "max", "maxLength", "minLength", "trim", "pattern", "enum"].map((
    one,
  ) => nameIn(at, one));
  const isWrong = issues?.some(({ path }) => fieldOfIssue(path)?.startsWith(nameIn(at, ""))) ?? false;
  const type = values[nameIn(at, "type")] ?? "text";
  const isRequired = values[nameIn(at, "required")] !== undefined;
  const title = name === ""
    ? at < wanted ? `Input for ?${at + 1}` : at === 0 ? "Add an input" : "Add another input"
    : `${name}, ${type}${isRequired ? ", required" : ""}`;
  return (
    <Fold kind="input-row" title={title} open={isWrong || (name === "" && at < wanted)}>
      <div class="form" role="group" aria-label={name === "" ? `Input ${at + 1}` : `Input ${name}`}>
        <div class="columns">
          <Field label="Name" {...own("name")} placeholder={at === 0 ? "id" : ""} />
          <Field label="Type" {...own("type")} choices={types} />
          <Check
            label="Required"
            name={nameIn(at, "required")}
            checked={isRequired}
          />
        </div>
        <Fold title={`More about ${name === "" ? "it" : name}`} open={hasAny(values, more)}>
          <div class="form">
            <div class="columns">
              <Field label="Label" {...own("label")} />
              <Field label="Default" {...own("default")} />
            </div>
            <div class="columns">
              <Field label="Least" {...own("min")} />
              <Field label="Most" {...own("max")} />
              <Field label="Characters at least" {...own("minLength")} />
              <Field label="Characters at most" {...own("maxLength")} />
            </div>
            <Check
              label="Without white space at its ends"
              name={nameIn(at, "trim")}
              checked={values[nameIn(at, "trim")] !== undefined}
            />
            <Field label="Pattern" {...own("pattern")} hint="A regular expression without slashes" />
            <Field label="Allowed values, one a line" {...own("enum")} type="textarea" />
          </div>
        </Fold>
      </div>
    </Fold>
  );
}

/** The state of a field, with the first issue about it. */
function fieldsOf({ values, issues }: Pick<SpecFormProps, "values" | "issues">) {
  return (name: string) => ({
    name,
    value: values[name] ?? "",
    problem: issues?.find(({ path }) => fieldOfIssue(path) === name)?.message,
  });
}
