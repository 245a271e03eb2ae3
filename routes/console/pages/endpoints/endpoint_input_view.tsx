// One input of an endpoint in the form of its specification.
import { fieldSpec } from "../../../../lib/core/endpoint_spec.ts";
import type { Issue } from "../../../../lib/core/errors.ts";
import { Check } from "../../parts/check.tsx";
import { Field, type FieldProps } from "../../parts/field.tsx";
import { Fold } from "../../parts/fold.tsx";
import type { Html } from "../../parts/html.ts";
import { fieldOfIssue, type FormValues, nameIn } from "./endpoint_form.ts";

/** Which input, and what the form has. */
export interface EndpointInputProps {
  readonly at: number;
  readonly values: FormValues;
  readonly issues: readonly Issue[] | null;
  /** Placeholders of a statement that is handed over: each wants an input. */
  readonly wanted: number;
}

const types: NonNullable<FieldProps["choices"]> = fieldSpec.shape.type.options.map((one) => [one, one]);

/** Closed where it says all of itself in its title. */
export function EndpointInput(props: EndpointInputProps): Html {
  const { at, values, issues, wanted } = props;
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
            <Field
              label="Allowed values, one a line"
              {...own("enum")}
              type="textarea"
              hint='"" is the empty one'
            />
          </div>
        </Fold>
      </div>
    </Fold>
  );
}

/** The state of a field, with the first issue about it. */
export function fieldsOf(
  { values, issues }: Pick<EndpointInputProps, "values" | "issues">,
): (name: string) => Pick<FieldProps, "name" | "problem"> & { readonly value: string } {
  return (name: string) => ({
    name,
    value: values[name] ?? "",
    problem: issues?.find(({ path }) => fieldOfIssue(path) === name)?.message,
  });
}

/** Whether one of the fields has something in it. */
export function hasAny(values: FormValues, names: readonly string[]): boolean {
  return names.some((name) => (values[name] ?? "") !== "");
}
