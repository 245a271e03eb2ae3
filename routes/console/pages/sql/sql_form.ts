// The form of the SQL page as it was sent: the text, the values of its placeholders, and what is to be done.
import { MAX_SQL_LENGTH } from "../../../../lib/core/limits.ts";
import { invalidInput } from "../../../../lib/core/errors.ts";
import { isValueType, type TypedValue } from "../../../../lib/sql/words/typed_value.ts";
import type { FormFields } from "../../frame/read_form.ts";

/** What a button of the page asks for. */
export type SqlAction =
  | { readonly kind: "run"; readonly first: number }
  | { readonly kind: "plan" | "publish" }
  | { readonly kind: "apply"; readonly executionToken: string }
  | { readonly kind: "redeem"; readonly approvalToken: string };

/** The form. */
export interface SqlForm {
  readonly text: string;
  readonly valueOf: (statement: number, placeholder: number) => TypedValue | null;
  readonly action: SqlAction;
  /** Names of the fields of values that were sent. */
  readonly valueFields: ReadonlySet<string>;
}

/** Rows of a result that pages lead through: what is further behind is found by a narrower statement. */
const MOST_ROWS = 100_000;

/** Reads it. Errors: `validation_failed` for a text that is too long. */
export function readSqlForm(fields: FormFields): SqlForm {
  const text = fields.exact("sql");
  if (text.length > MAX_SQL_LENGTH) {
    throw invalidInput("sql", `Use at most ${MAX_SQL_LENGTH} characters; these are ${text.length}`);
  }
  return {
    text,
    valueOf: (statement, placeholder) => typedValue(fields, statement, placeholder),
    action: actionOf(fields),
    valueFields: new Set([...fields.fields.keys()].filter((name) => name.startsWith("value-"))),
  };
}

/** The names of the fields of a placeholder. */
export function valueNames(statement: number, placeholder: number): { value: string; type: string } {
  return { value: `value-${statement}-${placeholder}`, type: `type-${statement}-${placeholder}` };
}

function typedValue(fields: FormFields, statement: number, placeholder: number): TypedValue | null {
  const names = valueNames(statement, placeholder);
  if (!fields.has(names.value)) return null;
  const type = fields.exact(names.type);
  return {
    type: isValueType(type) ? type : "text",
    text: fields.exact(names.value),
  };
}

function actionOf(fields: FormFields): SqlAction {
  const asked = fields.exact("do");
  if (asked === "plan" || asked === "publish") return { kind: asked };
  if (asked === "apply") return { kind: asked, executionToken: fields.exact("execution") };
  if (asked === "redeem") return { kind: asked, approvalToken: fields.exact("approval") };
  const first = Number(/^from-(\d{1,6})$/.exec(asked)?.[1] ?? 0);
  return { kind: "run", first: Math.min(MOST_ROWS, first) };
}
