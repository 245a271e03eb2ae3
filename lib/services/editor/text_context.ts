// What the editor's services share: a text of several statements with its values, and a failure with its place in it.
import type { AppError } from "../../core/errors.ts";
import { failedSpan, type TextSpan } from "../../sql/hints/failed_span.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import type { StatementPart } from "../../sql/tokens/split_statements.ts";

/** A statement of the text with its values. */
export interface TextStatement extends StatementPart {
  readonly params: readonly SqlParameter[];
}

/** Why the text did not run, or not to its end. */
export interface TextFailure {
  readonly error: AppError;
  /** Index of the statement; null where it is about none. */
  readonly index: number | null;
  /** Offsets in the text of what is wrong; null where nothing tells. */
  readonly span: TextSpan | null;
}

/** The failure of a call that ran the statements in order. */
export function textFailure(error: AppError, statements: readonly StatementPart[]): TextFailure {
  const told = error.facts.extra?.["failedIndex"];
  const index = typeof told === "number" ? told : statements.length === 1 ? 0 : null;
  const failed = index === null ? undefined : statements[index];
  const detail = error.facts.detail;
  if (index === null || failed === undefined || detail === undefined) return { error, index, span: null };
  const { kind, table, column } = detail;
  const span = failedSpan(failed.sql, { kind, table, column, message: error.message });
  return {
    error,
    index,
    span: span && { from: failed.at + span.from, to: failed.at + span.to },
  };
}
