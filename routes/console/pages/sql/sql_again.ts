// The fields that run a text, or one statement of it, once more with the values that were typed for it.
import { type SqlForm, valueNames } from "./sql_form.ts";

/** A statement of the text: its place, from 0, and its own text. */
export interface OneStatement {
  readonly statement: number;
  readonly sql: string;
}

/** `only` null: the whole text. */
export function againFields(form: SqlForm, only: OneStatement | null): Record<string, string> {
  const fields: Record<string, string> = { sql: only?.sql ?? form.text };
  for (const name of form.valueFields) {
    const [, from = "", place = ""] = name.split("-");
    if (only !== null && Number(from) !== only.statement) continue;
    const typed = form.valueOf(Number(from), Number(place));
    if (typed === null) continue;
    const names = valueNames(only === null ? Number(from) : 0, Number(place));
    fields[names.value] = typed.text;
    fields[names.type] = typed.type;
  }
  return fields;
}
