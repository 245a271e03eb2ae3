// A labelled field, with what is wrong with it beside it.
import type { Html } from "./html.ts";

/** A field. */
export interface FieldProps {
  readonly label: string;
  readonly name: string;
  /** Where the page has another field of this name: tells their ids apart. */
  readonly of?: string;
  /** What stands in it: what was typed, when the form comes back. */
  readonly value?: string;
  readonly type?:
    | "text"
    | "email"
    | "password"
    | "search"
    | "number"
    | "date"
    | "datetime-local"
    | "textarea";
  /** Of a textarea: what is typed is code, of some lines. */
  readonly code?: boolean;
  /** What to type, in a sentence below. */
  readonly hint?: string;
  /** What is wrong and what to do. */
  readonly problem?: string | undefined;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly maxLength?: number;
  /** Of a number. */
  readonly step?: string;
  readonly min?: string;
  readonly autofocus?: boolean;
  /** A list of choices instead of a text: value and name. */
  readonly choices?: readonly (readonly [value: string, name: string])[];
}

/** A label around its field. */
export function Field(props: FieldProps): Html {
  const { label, name, hint, problem, value = "", type = "text", choices } = props;
  const id = props.of === undefined ? name : `${props.of}-${name}`;
  const described = [hint === undefined ? "" : `${id}-hint`, problem === undefined ? "" : `${id}-wrong`]
    .filter((id) => id !== "").join(" ");
  const common = {
    id: `${id}-field`,
    name,
    required: props.required ?? false,
    "aria-invalid": problem === undefined ? undefined : "true",
    "aria-describedby": described === "" ? undefined : described,
    // A form that comes back is looked at where something is wrong with it.
    autofocus: props.autofocus ?? problem !== undefined,
  };
  return (
    <div class="field">
      <label for={common.id}>{label}</label>
      {choices !== undefined
        ? (
          <select {...common}>
            {choices.map(([one, shown]) => <option value={one} selected={one === value}>{shown}</option>)}
          </select>
        )
        : type === "textarea"
        ? (
          <textarea
            {...common}
            class={props.code === true ? "code" : undefined}
            spellcheck={props.code === true ? false : undefined}
            maxlength={props.maxLength}
            placeholder={props.placeholder}
          >
            {value}
          </textarea>
        )
        : (
          <input
            {...common}
            type={type}
            value={type === "password" ? undefined : value}
            maxlength={props.maxLength}
            placeholder={props.placeholder}
            autocomplete={props.autocomplete ?? "off"}
            step={props.step}
            min={props.min}
            spellcheck={false}
          />
        )}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
      {problem === undefined ? null : <small class="wrong" id={`${id}-wrong`}>{problem}</small>}
    </div>
  );
}
