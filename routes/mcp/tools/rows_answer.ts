// Rows in an answer: as many as have room, whole ones only.
import type { JsonValue } from "../../../lib/engine/statement_effect.ts";
import type { ResultPage } from "../../../lib/services/query/read_page.ts";
import { jsonWithReals } from "../../../lib/sql/words/row_form.ts";
import { marked, type McpAnswer } from "./answer.ts";
import { MAX_ANSWER_LENGTH } from "./fitted.ts";

/** Rows of a result. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
}

/** The same as text, with its end where the room was used up. */
export interface RowsText {
  readonly json: string;
  readonly shown: number;
}

/** Room for the members around the rows. */
const AROUND = 500;

/** `{columns, rows` of as many rows as have room; the object is left open for further members. */
export function rowsText({ columns, rows }: Rows, characters: number): RowsText {
  const head = `{"columns":${JSON.stringify(columns)},"rows":[`;
  let length = head.length + AROUND;
  const texts: string[] = [];
  for (const row of rows) {
    const text = jsonWithReals(row);
    length += text.length + 1;
    if (length > characters) break;
    texts.push(text);
  }
  return { json: `${head}${texts.join(",")}]`, shown: texts.length };
}

/** `,"warnings":[…]` where there are some. */
export function warningsText(warnings: readonly string[] = []): string {
  return warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
}

/** `{columns, rows, rowCount, more, warnings?}`; `more`: there are rows behind those shown. */
export function rowsAnswer(page: Rows & Pick<ResultPage, "more" | "warnings">): McpAnswer {
  const { json, shown } = rowsText(page, MAX_ANSWER_LENGTH);
  const cut = shown < page.rows.length;
  const hint = cut ? `,"hint":${JSON.stringify(cutHint(shown))}` : "";
  return {
    text: marked(
      `${json},"rowCount":${shown},"more":${page.more || cut}${warningsText(page.warnings)}${hint}}`,
    ),
    isError: false,
  };
}

function cutHint(shown: number): string {
  return shown === 0
    ? "Select fewer columns or use substr(); the first row is longer than an answer may be"
    : "Select fewer columns or rows; an answer has room for these";
}
