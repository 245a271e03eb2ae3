// The value behind DEFAULT as an expression that other statements can have.
import { quoteText } from "./quote.ts";

const KEYWORD = /^(?:null|true|false|current_(?:date|time|timestamp))$/i;

/**
 * Makes an expression, in parentheses, of a column's `dflt_value`. Behind DEFAULT a name is a text, as in `DEFAULT open` or
 * `DEFAULT "open"`, while elsewhere it would be a column's.
 */
export function defaultExpression(defaultSql: string): string {
  const [, bracketed, quote, quoted] = /^(?:\[(.*)\]|(["`])(.*)\2)$/s.exec(defaultSql) ?? [];
  const name = bracketed ?? quoted?.replaceAll(`${quote}${quote}`, `${quote}`) ?? bareName(defaultSql);
  if (name !== null) return `(${quoteText(name)})`;
  // A comment at its end lasts to the end of the line.
  return defaultSql.includes("--") ? `(${defaultSql}\n)` : `(${defaultSql})`;
}

/** To the engine every character beyond ASCII is one of a name. */
function bareName(sql: string): string | null {
  return /^[A-Za-z_\u{80}-\u{10ffff}][\w$\u{80}-\u{10ffff}]*$/u.test(sql) && !KEYWORD.test(sql) ? sql : null;
}
