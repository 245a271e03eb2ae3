// The results of a batch as entries of a cursor: columns, rows one by one, and what a step has changed.
import { AppError } from "../../core/errors.ts";
import { infiniteJson, NOTHING } from "./result_text.ts";
import type { BatchRun } from "./batch_run.ts";
import { doorError } from "./door_error.ts";

/** JSON as text of each entry. */
export function cursorEntries({ results, errors }: BatchRun): string[] {
  return results.flatMap((text, step) => {
    const error = errors[step] ?? null;
    if (error !== null) return [JSON.stringify({ type: "step_error", step, error: doorError(error) })];
    return text === null ? [] : stepEntries(text, step);
  });
}

/** The failure of the whole: nothing of it has run, unless the failure says so. Throws what is no expected failure. */
export function failedEntry(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  return JSON.stringify({ type: "error", error: doorError(error) });
}

interface ParsedResult {
  readonly cols: readonly unknown[];
  readonly rows: readonly unknown[];
  readonly affected_row_count: number;
  readonly last_insert_rowid: string | null;
}

/** Guarantee: the text is one that `result_text.ts` has written. */
function stepEntries(text: string, step: number): string[] {
  if (text === NOTHING) return [begin(step, []), end(0, null)];
  const { cols, rows, affected_row_count, last_insert_rowid }: ParsedResult = JSON.parse(text);
  const written = rows.map((row) => infiniteJson({ type: "row", row }));
  return [begin(step, cols), ...written, end(affected_row_count, last_insert_rowid)];
}

function begin(step: number, cols: readonly unknown[]): string {
  return JSON.stringify({ type: "step_begin", step, cols });
}

function end(changes: number, rowid: string | null): string {
  return JSON.stringify({ type: "step_end", affected_row_count: changes, last_insert_rowid: rowid });
}
