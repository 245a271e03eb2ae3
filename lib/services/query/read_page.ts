// Runs one statement that only reads and answers the first of its rows, for a caller who has room for so many.
import type { JsonValue } from "../../engine/statement_effect.ts";
import { pageText, readPageTexts } from "./page_text.ts";
import { readResult } from "./read_result.ts";
import { readStatement } from "./read_statement.ts";
import type { JsonParameter, StatementsContext } from "./run_statements.ts";

/** A read and how many of its rows are wanted. */
export interface PageInput {
  readonly sql: string;
  readonly params?: readonly JsonParameter[] | undefined;
  readonly maxRows: number;
  readonly signal: () => AbortSignal | null;
}

/** The first rows of a result. */
export interface ResultPage {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  /** Whether there are others. */
  readonly more: boolean;
  /** Those of `meta`; empty where there are none. */
  readonly warnings: readonly string[];
}

/** Bytes of the rows that are read: much more than an answer holds, and little enough not to hold others up. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Rows of what is read as it stands, such as PRAGMA and EXPLAIN. */
const UNPAGED_ROWS = 1000;

/** Runs at role read, whatever the caller's. Errors: those of the pipeline; `role_too_low` for a text that writes. */
export async function readPage(ctx: StatementsContext, input: PageInput): Promise<ResultPage> {
  const { sql, params, maxRows, signal } = input;
  await readPageTexts(ctx.facts, [sql]);
  const paged = pageText(ctx.facts, sql, { first: 0, count: maxRows });
  const bounds = {
    rows: Math.min(ctx.bounds.rows, paged === null ? UNPAGED_ROWS : maxRows + 1),
    bytes: Math.min(ctx.bounds.bytes, PAGE_BYTES),
  };
  const reader: StatementsContext = { ...ctx, bounds, target: { ...ctx.target, role: "read" } };
  const { json, meta } = await readStatement(reader, { sql: paged ?? sql, params, signal });
  const { columns, rows } = readResult(json);
  const { warnings = [] } = meta;
  return { columns, rows: rows.slice(0, maxRows), more: rows.length > maxRows, warnings };
}
