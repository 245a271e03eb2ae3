// The places of an endpoint's inputs in a statement of it: by position (`?`), or by name (`:name`, `$user_id`); and those of
// values that an earlier statement has returned (`@name`).
import { traverse } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";

/** What one parameter takes. */
export type InputParameter =
  /** The next input in their order. */
  | { readonly is: "next" }
  | { readonly is: "input"; readonly name: string }
  | { readonly is: "returned"; readonly column: string };

/** A statement as the engine gets it, and what each of its parameters takes. */
export interface InputPlaceholders {
  /** Placeholders are written as `?N` where one of them has a name; otherwise the text is what it was. */
  readonly sql: string;
  readonly parameters: readonly InputParameter[];
}

/** Reads them where SQLite's grammar sees them, never inside a text or a comment. What does not parse stays as it is. */
export function inputPlaceholders(sql: string): InputPlaceholders {
  const found = placeholdersOf(sql);
  if (found.every(({ name }) => name.startsWith("?"))) {
    return { sql, parameters: found.map(() => ({ is: "next" })) };
  }
  const parameters: InputParameter[] = [];
  const numbers = new Map<string, number>();
  let [text, end] = ["", 0];
  for (const { name, span: { offset, length } } of found) {
    const parameter = parameterOf(name);
    const key = parameter.is === "input" ? `:${parameter.name}` : name;
    const number = (parameter.is === "next" ? undefined : numbers.get(key)) ?? parameters.push(parameter);
    numbers.set(key, number);
    text += `${sql.slice(end, offset)}?${number}`;
    end = offset + length;
  }
  return { sql: text + sql.slice(end), parameters };
}

/** `:name` → `name`; `$user_id` and `:$user_id` are the session's field itself. */
function parameterOf(placeholder: string): InputParameter {
  if (placeholder.startsWith("?")) return { is: "next" };
  if (placeholder.startsWith("@")) return { is: "returned", column: placeholder.slice(1) };
  return { is: "input", name: placeholder.startsWith(":") ? placeholder.slice(1) : placeholder };
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
