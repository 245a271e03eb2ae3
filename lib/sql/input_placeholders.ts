// The places of an endpoint's inputs in its statement: by position (`?`), or by name (`:name`, `$user_id`).
import { parseStmt, traverse } from "sqlite3-parser";

/** A statement as the engine gets it, and whose value each of its parameters takes. */
export interface InputPlaceholders {
  /** Named placeholders are written as `?N`; otherwise the text is what it was. */
  readonly sql: string;
  /** The input that parameter N takes, at N − 1; null where the placeholders go by position. */
  readonly names: readonly string[] | null;
  /** Whether named and other placeholders stand in one statement. */
  readonly mixed: boolean;
}

/** Reads them where SQLite's grammar sees them, never inside a text or a comment. What does not parse stays as it is. */
export function inputPlaceholders(sql: string): InputPlaceholders {
  const found = placeholdersOf(sql);
  const named = found.filter(({ name }) => !name.startsWith("?"));
  if (named.length === 0) return { sql, names: null, mixed: false };
  const names = [...new Set(named.map(({ name }) => inputName(name)))];
  let [text, end] = ["", 0];
  for (const { name, span: { offset, length } } of named) {
    text += `${sql.slice(end, offset)}?${names.indexOf(inputName(name)) + 1}`;
    end = offset + length;
  }
  return { sql: text + sql.slice(end), names, mixed: named.length < found.length };
}

/** `:name` → `name`; `$user_id` and `:$user_id` are the session's field itself. */
function inputName(placeholder: string): string {
  return placeholder.startsWith(":") ? placeholder.slice(1) : placeholder;
}

interface Placeholder {
  readonly name: string;
  readonly span: { readonly offset: number; readonly length: number };
}

/** In the order of the text. */
function placeholdersOf(sql: string): Placeholder[] {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return [];
  const found: Placeholder[] = [];
  traverse(parsed.root, {
    enter(node) {
      if (node.type === "VariableExpr") found.push(node);
    },
  });
  return found.sort((a, b) => a.span.offset - b.span.offset);
}
