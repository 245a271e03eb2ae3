// A form that comes back: what was typed stays, and what is wrong stands beside its field.
import type { Problem } from "./attempt.ts";
import type { FormFields } from "./read_form.ts";

/** Which form of a page it is, what it held, and why it is back. */
export interface Returned<Name extends string = string> {
  readonly form: Name;
  readonly fields: FormFields;
  readonly problem: Problem;
}

/** What a field shows: to be spread into `<Field>`. Of a form that is not back, `first` stands in it. */
export interface FieldState {
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
}

/** The state of the fields of one form. */
export function fieldsOf<Name extends string>(
  returned: Returned<Name> | null,
  form: Name,
): (name: string, first?: string) => FieldState {
  const own = returned?.form === form ? returned : null;
  return (name, first = "") => ({
    name,
    value: own === null ? first : own.fields.exact(name),
    problem: own?.problem.fields[name],
  });
}

/** What is wrong with a form as a whole; null where fields say it, or nothing is. */
export function messageOf<Name extends string>(returned: Returned<Name> | null, form: Name): string | null {
  return returned?.form === form && returned.problem.message !== "" ? returned.problem.message : null;
}
