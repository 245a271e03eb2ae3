// Where in its text a statement failed, as far as the text and the failure tell. Pure; for whoever marks it.
import { parseStmt } from "../grammar/grammar.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { hasLongList } from "../grammar/has_long_list.ts";
import { foldName } from "../words/names.ts";
import { sqlTokens } from "../tokens/sql_tokens.ts";

/** Offsets in a text: `from` inclusive, `to` exclusive. */
export interface TextSpan {
  readonly from: number;
  readonly to: number;
}

/** What is known about a failure. */
export interface FailureWords {
  readonly kind: ErrorDetail["kind"];
  readonly table: string | null;
  readonly column: string | null;
  readonly message: string;
}

/** Characters. Reading a longer text again would hold up the service's own process for too long. */
const MAX_LENGTH = 50_000;

/** The token at which the statement failed; null where nothing tells, and for a long text. */
export function failedSpan(sql: string, failure: FailureWords): TextSpan | null {
  if (sql.length > MAX_LENGTH) return null;
  if (failure.kind === "syntax_error") return unparsed(sql) ?? named(sql, quotedWord(failure.message));
  if (failure.kind === "unknown_column") return named(sql, failure.column ?? quotedWord(failure.message));
  if (failure.kind === "unknown_table") return named(sql, failure.table ?? quotedWord(failure.message));
  return named(sql, quotedWord(failure.message));
}

/** Where the grammar stops. */
function unparsed(sql: string): TextSpan | null {
  if (hasLongList(sql)) return null;
  const parsed = parseOrNull(sql);
  const span = parsed?.status === "error" ? parsed.errors[0]?.span : undefined;
  if (span === undefined) return null;
  const from = Math.min(span.offset, sql.length);
  return { from, to: Math.max(from, Math.min(sql.length, from + span.length)) };
}

/** The parser walks by recursion, so a text that is nested too deeply has no place either. */
function parseOrNull(sql: string): ReturnType<typeof parseStmt> | null {
  try {
    return parseStmt(sql);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The first token with that name. */
function named(sql: string, name: string | null): TextSpan | null {
  if (name === null || name === "") return null;
  const wanted = foldName(name.slice(name.lastIndexOf(".") + 1));
  const found = sqlTokens(sql).find(({ kind, text }) =>
    (kind === "word" || kind === "name") && foldName(text) === wanted
  );
  return found ? { from: found.at, to: found.end } : null;
}

/** The name at the end of `no such function: f`, or in `near "f": syntax error`. */
function quotedWord(message: string): string | null {
  return /near "([^"]+)"/.exec(message)?.[1] ?? /^no such [a-z ]+: (\S+)$/.exec(message)?.[1] ?? null;
}
