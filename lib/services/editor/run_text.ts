// Runs the statements of a text that only reads, for a person who looks at the rows: a page of each result.
import { AppError } from "../../core/errors.ts";
import { outcomeOf } from "../../core/outcome_of.ts";
import { ownTurn } from "../../core/own_turn.ts";
import type { JsonValue } from "../../engine/statement_effect.ts";
import type { QueryAnswer, QueryMeta } from "../../query/query_call.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import { runStatements, type StatementsContext } from "../query/run_statements.ts";
import { pageText, readPageTexts, type RowWindow } from "../query/page_text.ts";
import { rowChunks } from "./row_chunks.ts";
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

/** Rows of a page; where a page of those is too large, or there are many statements, the fewer. */
const PAGE_ROWS = [200, 20] as const;
/** Statements of which each may have a large page. */
const FEW_STATEMENTS = 5;
/** Bytes of one page. */
const PAGE_BYTES = 1024 * 1024;
/** Rows of what runs as it stands, PRAGMA and EXPLAIN, of which a page is shown. */
const UNPAGED_ROWS = 1000;
/** Rows that are read at once: others are served between them. */
const CHUNK_ROWS = 50;

/** Runs the statements one by one up to the first that fails. Never throws an `AppError`. */
export async function runText(ctx: StatementsContext, input: RunTextInput): Promise<RanText> {
  const [most, fewest] = PAGE_ROWS;
  if (input.statements.length > FEW_STATEMENTS) return await runPage(ctx, input, fewest);
  const ran = await runPage(ctx, input, most);
  return ran.failure?.error.code === "result_too_large" ? await runPage(ctx, input, fewest) : ran;
}

async function runPage(ctx: StatementsContext, input: RunTextInput, count: number): Promise<RanText> {
  const { statements, first, signal } = input;
  const window = { first, count };
  await readPageTexts(ctx.facts, statements.map(({ sql }) => sql));
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
    shown(table, { sql: statements[index]?.sql ?? "", window, paged: texts[index]?.paged ?? false });
  if (outcome.ok) {
    const tables = await tablesOf(outcome.value);
    return { results: tables.map(show), meta: outcome.value.meta, failure: null };
  }
  const { error } = outcome;
  return { results: keptOf(error).map(show), meta: null, failure: textFailure(error, statements) };
}

function pagedOrWhole(ctx: StatementsContext, sql: string, window: RowWindow) {
  const text = pageText(ctx.facts, sql, window);
  return { sql: text ?? sql, paged: text !== null };
}

type Ran = Pick<ShownResult, "columns" | "rows" | "rowsRead" | "rowsWritten">;

async function tablesOf({ results }: QueryAnswer): Promise<Ran[]> {
  const tables: Ran[] = [];
  for (const { json, rowsRead, rowsWritten } of results) {
    const { columns, rows: chunks } = rowChunks(json, CHUNK_ROWS);
    const rows: JsonValue[][] = [];
    for (const chunk of chunks) {
      rows.push(...chunk);
      await ownTurn();
    }
    tables.push({ columns, rows, rowsRead, rowsWritten });
  }
  return tables;
}

/** Guarantee: a batch that stopped carries the results before the failure in the form of its answer. */
function keptOf(error: AppError): Ran[] {
  const data = error.facts.extra?.["data"];
  return Array.isArray(data) ? data as Ran[] : [];
}

function shown(
  { columns, rows, rowsRead, rowsWritten }: Ran,
  { sql, window: { first, count }, paged }: {
    readonly sql: string;
    readonly window: RowWindow;
    readonly paged: boolean;
  },
): ShownResult {
  const from = paged ? rows : rows.slice(first);
  return {
    sql,
    columns,
    rows: from.slice(0, count),
    first,
    more: from.length > count,
    rowsRead,
    rowsWritten,
  };
}
