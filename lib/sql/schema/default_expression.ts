// The value behind DEFAULT as an expression that other statements can have.
import { quoteText } from "../words/quote.ts";
import type { SqlParameter } from "../words/sql_value.ts";

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

/** At most so many characters of a text, which then takes no more room than any other value. */
const SHORT_TEXT = 8;

/**
 * Reads a column's `dflt_value` that is a value by itself: NULL, an integer that is exact as a number, or a short text in single
 * quotes. Bound as a parameter it is stored as the default is. Null: it is none of these.
 */
export function defaultValue(defaultSql: string): { readonly value: SqlParameter } | null {
  if (/^null$/i.test(defaultSql)) return { value: null };
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(defaultSql)) return { value: Number(defaultSql) };
  const quoted = /^'((?:[^']|'')*)'$/.exec(defaultSql)?.[1]?.replaceAll("''", "'");
  return quoted === undefined || quoted.length > SHORT_TEXT ? null : { value: quoted };
}

/** To the engine every character beyond ASCII is one of a name. */
function bareName(sql: string): string | null {
  return /^[A-Za-z_\u{80}-\u{10ffff}][\w$\u{80}-\u{10ffff}]*$/u.test(sql) && !KEYWORD.test(sql) ? sql : null;
}
