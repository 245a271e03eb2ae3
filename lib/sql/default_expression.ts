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
  return `(${name === null ? defaultSql : quoteText(name)})`;
}

function bareName(sql: string): string | null {
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(sql) && !KEYWORD.test(sql) ? sql : null;
}
