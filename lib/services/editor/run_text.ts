// Runs the statements of a text that only reads, for a person who looks at the rows: a page of each result.
import { AppError } from "../../core/errors.ts";
import { outcomeOf } from "../../core/outcome_of.ts";
import type { JsonValue } from "../../engine/statement_effect.ts";
import type { QueryAnswer, QueryMeta } from "../../query/query_call.ts";
import { PLAIN_ROWS } from "../../sql/row_form.ts";
import { readResult, type ResultTable } from "../query/read_result.ts";
import { runStatements, type StatementsContext } from "../query/run_statements.ts";
import { pageText, type RowWindow } from "../query/page_text.ts";
import { type TextFailure, textFailure, type TextStatement } from "./text_context.ts";

/** A text and the first row that is wanted of its results, from 0. */
export interface RunTextInput {
  readonly statements: readonly TextStatement[];
  readonly first: number;
  readonly signal: () => AbortSignal | null;
}

/** The rows of one statement that are shown. */
export interface ShownResult {
  readonly sql: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  /** Place of the first row in the whole result, from 0. */
  readonly first: number;
  /** Whether there are rows behind those shown. */
  readonly more: boolean;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** What came of the text: the results up to the failure, if there is one. */
export interface RanText {
  readonly results: readonly ShownResult[];
  /** Null where the text failed. */
  readonly meta: QueryMeta | null;
  readonly failure: TextFailure | null;
}

/** Rows of a page; where a page of those is too large, the fewer. */
const PAGE_ROWS = [200, 20] as const;
/** Bytes of one page: more would keep the service from other work while it is read. */
const PAGE_BYTES = 1024 * 1024;
/** Rows of what is read as it stands: PRAGMA and EXPLAIN. */
const UNPAGED_ROWS = 1000;

/** Runs the statements one by one up to the first that fails. Never throws an `AppError`. */
export async function runText(ctx: StatementsContext, input: RunTextInput): Promise<RanText> {
  const [most, fewest] = PAGE_ROWS;
  const ran = await runPage(ctx, input, most);
  return ran.failure?.error.code === "result_too_large" ? await runPage(ctx, input, fewest) : ran;
}

async function runPage(ctx: StatementsContext, input: RunTextInput, count: number): Promise<RanText> {
  const { statements, first, signal } = input;
  const window = { first, count };
  const texts = statements.map(({ sql }) => pagedOrWhole(ctx, sql, window));
  const batch = statements.length > 1;
  const outcome = await outcomeOf(() =>
    runStatements({ ...ctx, bounds: { rows: UNPAGED_ROWS, bytes: PAGE_BYTES } }, {
      operation: batch ? "batch" : "query",
      statements: statements.map(({ params }, index) => ({ sql: texts[index]?.sql ?? "", params })),
      atomic: !batch,
      rowForm: PLAIN_ROWS,
      replay: null,
      snapshots: true,
      maxAffected: null,
      signal,
    })
  );
  const show = (table: Ran, index: number) =>
    shown(table, { sql: statements[index]?.sql ?? "", window: texts[index]?.paged ? window : null });
  if (outcome.ok) {
    return { results: tablesOf(outcome.value).map(show), meta: outcome.value.meta, failure: null };
  }
  const { error } = outcome;
  return { results: keptOf(error).map(show), meta: null, failure: textFailure(error, statements) };
}

function pagedOrWhole(ctx: StatementsContext, sql: string, window: RowWindow) {
  const result = ctx.facts.syntax(sql);
  const text = result.ok ? pageText(sql, result.syntax, window) : null;
  return { sql: text ?? sql, paged: text !== null };
}

type Ran = ResultTable & { readonly rowsRead: number; readonly rowsWritten: number };

function tablesOf({ results }: QueryAnswer): Ran[] {
  return results.map(({ json, rowsRead, rowsWritten }) => ({ ...readResult(json), rowsRead, rowsWritten }));
}

/** Guarantee: a batch that stopped carries the results before the failure in the form of its answer. */
function keptOf(error: AppError): Ran[] {
  const data = error.facts.extra?.["data"];
  return Array.isArray(data) ? data as Ran[] : [];
}

function shown(
  { columns, rows, rowsRead, rowsWritten }: Ran,
  { sql, window }: { readonly sql: string; readonly window: RowWindow | null },
): ShownResult {
  const { first, count } = window ?? { first: 0, count: UNPAGED_ROWS };
  const more = rows.length > count;
  return { sql, columns, rows: more ? rows.slice(0, count) : rows, first, more, rowsRead, rowsWritten };
}
