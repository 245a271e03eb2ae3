// Reads of which each may fail by itself: one object that cannot be read must not hide all others.
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readRows } from "./read_rows.ts";

export type Each =
  | { readonly ok: true; readonly json: string }
  /** In the engine's words. */
  | { readonly ok: false; readonly error: string };

/** Failures that are about the object which is read, rather than about the store or the time. */
const ABOUT_OBJECT: ReadonlySet<ErrorCode> = new Set(["sql_error", "statement_refused", "database_corrupt"]);

/** Why the object cannot be read; null where the error says nothing of it. */
export function unreadable(error: unknown): string | null {
  return error instanceof AppError && ABOUT_OBJECT.has(error.code) ? error.message : null;
}

/**
 * One call where nothing fails, else those that fail are found by halves, in several states of the database. Errors: those
 * of the pipeline that are about no single object.
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
