// The fields that run a text, or one statement of it, once more with the values that were typed for it.
import { splitStatements } from "../../../lib/sql/split_statements.ts";
import { type SqlForm, valueNames } from "./sql_form.ts";

/** `statement` null: the whole text. */
export function againFields(form: SqlForm, statement: number | null): Record<string, string> {
  const parts = splitStatements(form.text);
  const only = statement === null ? undefined : parts[statement];
  const fields: Record<string, string> = { sql: only?.sql ?? form.text };
  for (const name of form.valueFields) {
    const [, from = "", place = ""] = name.split("-");
    if (only !== undefined && Number(from) !== statement) continue;
    const typed = form.valueOf(Number(from), Number(place));
    if (typed === null) continue;
    const names = valueNames(only === undefined ? Number(from) : 0, Number(place));
    fields[names.value] = typed.text;
    fields[names.type] = typed.type;
  }
  return fields;
}
