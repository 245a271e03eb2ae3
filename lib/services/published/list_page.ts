// Output `page`: runs a list and answers one page of it, with what leads to the next.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { type ReadTyped, readTypedResult } from "../../engine/read_typed_result.ts";
import { integerJson, realJson, type RowForm, TYPED_ROWS } from "../../sql/words/row_form.ts";
import { foldName } from "../../sql/words/names.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { QueryAnswer } from "../../query/query_call.ts";
import { boundStatement } from "../endpoints/spec/bind_inputs.ts";
import { readCursor, writeCursor } from "../endpoints/spec/list_cursor.ts";
import {
  cursorColumns,
  exactTexts,
  type ListAsk,
  listAsk,
  type ListConfig,
  listOrder,
  listStatements,
} from "../endpoints/spec/list_statements.ts";
import { outputs } from "../endpoints/spec/outputs.ts";
import { prepareSpec } from "../endpoints/spec/prepare_spec.ts";
import { inputIndex } from "./input_values.ts";
import type { EndpointCall, PublishedContext } from "./published_context.ts";
import { runForEndpoint } from "./run_for_endpoint.ts";

/** The body of a page as JSON text, and the figures of its call. */
export interface ListPage extends Pick<QueryAnswer, "meta"> {
  readonly body: string;
}

/** Errors: `validation_failed` naming the cursor, `sql_error` for rows without a key, those of the pipeline. */
export async function listPage(
  ctx: Pick<PublishedContext, "query" | "control">,
  call: EndpointCall,
  { list, bound }: { readonly list: ListConfig; readonly bound: readonly SqlParameter[] },
): Promise<ListPage> {
  const { record: { spec }, rowForm } = call;
  const base = boundStatement(prepareSpec(spec).last, bound);
  const after = cursorIn(spec, list, bound);
  const ask = listAsk({ list, input: spec.input }, base, { bound, after });
  const { pages, total, unkeyed } = listStatements(ask);
  const statements = [...pages, ...[total, unkeyed].filter((one) => one !== null)];
  // Values keep their type in this form, which the cursor needs.
  const { results, meta } = await runForEndpoint(ctx, call, statements, { rowForm: TYPED_ROWS });
  const read = results.map(({ json }) => readTypedResult(json));
  if (unkeyed !== null && read.at(-1)?.rows[0]?.[0] !== 0) throw withoutKey();
  const counted = total === null ? null : read[pages.length]?.rows[0]?.[0] ?? null;
  const found = {
    columns: read[0]?.columns ?? [],
    rows: read.slice(0, pages.length).flatMap(({ rows }) => rows),
  };
  const shown = found.rows.slice(0, ask.rows);
  const columns = found.columns.slice(0, -1);
  const next = found.rows.length > ask.rows ? cursorAfter(ask, columns, shown.at(-1) ?? []) : null;
  const json = pageJson({ columns, rows: shown }, rowForm);
  const rows = outputs.rows.body?.({ json, rowsRead: 0, rowsWritten: 0 }, spec.outputTypes) ?? "";
  return {
    body: `${rows.slice(0, -1)},"nextCursor":${JSON.stringify(next)},"total":${JSON.stringify(counted)}}`,
    meta,
  };
}

/** The row behind which the page begins. */
function cursorIn(
  spec: EndpointSpec,
  list: ListConfig,
  bound: readonly SqlParameter[],
): ListAsk["after"] {
  const valueOf = (name: string) => bound[inputIndex(spec, name)] ?? null;
  const text = valueOf("cursor");
  if (typeof text !== "string") return null;
  const sort = valueOf("sort");
  const order = listOrder(list, typeof sort === "string" ? sort : null);
  const cursor = readCursor(text);
  if (
    cursor === null || cursor.values.length !== cursorColumns(order).length ||
    cursor.sort !== order.name
  ) {
    const message = cursor === null || cursor.sort === order.name
      ? "Send nextCursor of the page before, as it came"
      : "Send the sort of the page before along with its nextCursor";
    throw invalidInput("cursor", message);
  }
  return cursor.values;
}

/** Errors: `sql_error` where the row has no key, a value is too long for a cursor, or the answer has lost a column. */
function cursorAfter(
  { order }: ListAsk,
  columns: readonly string[],
  last: readonly SqlParameter[],
): string {
  const folded = columns.map(foldName);
  const texts = exactTexts(last[columns.length]);
  const values = cursorColumns(order).map((column, at) =>
    texts[at] ?? last[folded.indexOf(foldName(column))]
  );
  if (values.slice(-order.key.length).includes(null)) throw withoutKey();
  const cursor = values.includes(undefined) ? null : writeCursor({
    sort: order.name,
    values: values.flatMap((value) => value === undefined ? [] : [value]),
  });
  if (cursor === null) {
    throw new AppError("sql_error", { message: "Sort by another column; a value of this one is too long" });
  }
  return cursor;
}

function withoutKey(): AppError {
  return new AppError("sql_error", {
    message: "Give every row a value in each column of list.key; rows without one cannot be told apart",
    told: "Tell the owner of this endpoint; rows of this list cannot be told apart",
  });
}

/** The result in the form of every other one, without the closing brace; of a row what has a column. */
function pageJson({ columns, rows }: ReadTyped, rowForm: RowForm): string {
  const shown = rows.map((row) => columns.map((_, at) => shownValue(row[at] ?? null, rowForm)));
  return `{"columns":${JSON.stringify(columns)},"rows":${JSON.stringify(shown)}`;
}

function shownValue(value: SqlParameter, rowForm: RowForm): unknown {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return integerJson(String(value), rowForm);
    return realJson(value);
  }
  if (typeof value !== "object" || value === null || "$blob" in value) return value;
  return "$integer" in value ? integerJson(value.$integer, rowForm) : value.$real;
}
