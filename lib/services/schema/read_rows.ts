// Reads that the service makes for itself: free, and not in the query log.
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { readOwn } from "../query/read_own.ts";
import type { StatementsContext } from "../query/run_statements.ts";

/**
 * One result for each statement, all from one state of the database: its rows as JSON text, `[[…],…]`. Errors: those
 * of the pipeline.
 */
export async function readRows(ctx: StatementsContext, statements: readonly string[]): Promise<string[]> {
  return await readOwn(ctx, statements.map((sql) => ({ sql, params: [] })));
}

/** What one of several reads came to. */
type Each =
  | { readonly ok: true; readonly json: string }
  /** In the engine's words. */
  | { readonly ok: false; readonly error: string };

/** Failures that are about the object that is read, rather than about the store or the time limit. */
const ABOUT_OBJECT: ReadonlySet<ErrorCode> = new Set(["sql_error", "statement_refused", "database_corrupt"]);

/** Why the object cannot be read; null where the error is not about the object. */
export function unreadable(error: unknown): string | null {
  return error instanceof AppError && ABOUT_OBJECT.has(error.code) ? error.message : null;
}

/**
 * Reads so that one object that cannot be read hides no other. It takes one call where nothing fails; otherwise the
 * failing statements are found by halving, in several states of the database. Errors: those of the pipeline that are
 * not about an object.
 */
export async function readEach(ctx: StatementsContext, statements: readonly string[]): Promise<Each[]> {
  if (statements.length === 0) return [];
  try {
    return (await readRows(ctx, statements)).map((json) => ({ ok: true, json }));
  } catch (error) {
    const reason = unreadable(error);
    if (reason === null) throw error;
    if (statements.length === 1) return [{ ok: false, error: reason }];
    const half = statements.length >> 1;
    const first = await readEach(ctx, statements.slice(0, half));
    return [...first, ...await readEach(ctx, statements.slice(half))];
  }
}
