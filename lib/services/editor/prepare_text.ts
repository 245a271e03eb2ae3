// From a text and the values typed for it to statements that can run: what each is, and which values are missing.
import { MAX_BATCH_STATEMENTS, MAX_PARAMETERS } from "../../core/limits.ts";
import type { Facts } from "../../query/facts_cache.ts";
import { splitStatements } from "../../sql/tokens/split_statements.ts";
import type { SqlParameter } from "../../sql/words/sql_value.ts";
import { readTypedValue, type TypedValue } from "../../sql/words/typed_value.ts";
import type { TextStatement } from "./text_context.ts";

/** A text as it stands in the editor. */
export interface TypedText {
  readonly text: string;
  /** The value typed for a placeholder; null where there is none yet. Both numbers are from 0. */
  readonly valueOf: (statement: number, placeholder: number) => TypedValue | null;
}

/** A placeholder of the text, with what was typed for it. */
export interface Placeholder {
  readonly statement: number;
  readonly place: number;
  readonly typed: TypedValue | null;
  /** What is wrong with the value; null where it can be bound. */
  readonly problem: string | null;
}

/** The text, ready to run where `problem` is null and no placeholder has one. */
export interface PreparedText {
  readonly statements: readonly TextStatement[];
  /** The first hundred. */
  readonly placeholders: readonly Placeholder[];
  /** Whether one of the statements changes something. */
  readonly writes: boolean;
  /** Why the text as a whole cannot run. */
  readonly problem: string | null;
}

/** Placeholders that a page has fields for. */
const MOST_FIELDS = 100;

/** Never fails: a text that cannot be read has no placeholders, and the engine says what is wrong with it. */
export async function prepareText(
  { facts }: { readonly facts: Facts },
  { text, valueOf }: TypedText,
): Promise<PreparedText> {
  await facts.readAhead([text], "parts");
  const parts = facts.ahead("parts", text) ?? splitStatements(text);
  await facts.readAhead(parts.map(({ sql }) => sql));
  const placeholders: Placeholder[] = [];
  let [writes, found] = [false, 0];
  const statements = parts.map((part, statement): TextStatement => {
    const result = facts.syntax(part.sql);
    if (!result.ok) return { ...part, params: [] };
    writes ||= result.syntax.class === "write" || result.syntax.class === "schema";
    const count = Math.min(result.syntax.parameterCount, MAX_PARAMETERS);
    const params: SqlParameter[] = [];
    // A text with more does not run, and its fields would make a page of many megabytes.
    const shown = Math.min(count, MOST_FIELDS - placeholders.length);
    found += count;
    for (let place = 0; place < shown; place++) {
      const typed = valueOf(statement, place);
      const read = typed === null ? null : readTypedValue(typed);
      const problem = read === null ? "Give a value" : read.ok ? null : read.message;
      placeholders.push({ statement, place, typed, problem });
      params.push(read?.ok ? read.value : null);
    }
    return { ...part, params };
  });
  return { statements, placeholders, writes, problem: problemOf(parts.length, found) };
}

function problemOf(statements: number, placeholders: number): string | null {
  if (statements === 0) return "Write a statement first";
  if (statements > MAX_BATCH_STATEMENTS) {
    return `Run at most ${MAX_BATCH_STATEMENTS} statements at once; these are ${statements}`;
  }
  if (placeholders > MOST_FIELDS) {
    return `Use at most ${MOST_FIELDS} placeholders here; the API takes more`;
  }
  return null;
}
