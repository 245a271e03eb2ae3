// Cuts a statement into tokens where SQLite does, without a grammar; it never fails. White space is what SQLite takes
// for it; every other character beyond ASCII belongs to a name.

/**
 * `key` is the upper-case word for bare words and the mark itself for marks; empty for names, literals and
 * parameters.
 */
export interface SqlToken {
  readonly kind: "word" | "name" | "literal" | "parameter" | "mark";
  readonly text: string;
  readonly key: string;
  /** The number of open parentheses around it; a parenthesis itself is outside. */
  readonly depth: number;
  /** Its offset in the statement, and the offset after it. */
  readonly at: number;
  readonly end: number;
}

const PIECE =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[ \t\n\f\r][\t-\r ]*|\uFEFF|(?<string>[xX]?'(?:[^']|'')*'?)|(?<quoted>"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?)|(?<number>\d[\w.]*(?:[eE][+-]?\d+)?|\.\d+)|(?<parameter>\?\d*|[:@$][\w$\u0080-\u{10FFFF}]+)|(?<word>[A-Za-z_\u0080-\u{10FFFF}][\w$\u0080-\u{10FFFF}]*)|(?<mark><=|>=|<>|!=|==|\|\||->>?|[\s\S])/gu;

/** The tokens of one statement, comments and white space left out; no more than the first `most`. */
export function sqlTokens(sql: string, most = Infinity): SqlToken[] {
  const tokens: SqlToken[] = [];
  let depth = 0;
  for (const match of sql.matchAll(PIECE)) {
    if (tokens.length >= most) break;
    const groups = match.groups ?? {};
    const text = match[0];
    const at = match.index;
    const end = at + text.length;
    if (groups["word"] !== undefined) {
      tokens.push({ kind: "word", text, key: text.toUpperCase(), depth, at, end });
    } else if (groups["quoted"] !== undefined) {
      tokens.push({ kind: "name", text: unquote(text), key: "", depth, at, end });
    } else if (groups["string"] !== undefined || groups["number"] !== undefined) {
      tokens.push({ kind: "literal", text, key: "", depth, at, end });
    } else if (groups["parameter"] !== undefined) {
      tokens.push({ kind: "parameter", text, key: "", depth, at, end });
    } else if (groups["mark"] !== undefined) {
      if (text === ")") depth = Math.max(0, depth - 1);
      tokens.push({ kind: "mark", text, key: text, depth, at, end });
      if (text === "(") depth++;
    }
  }
  return tokens;
}

function unquote(text: string): string {
  const open = text.charAt(0);
  const close = open === "[" ? "]" : open;
  const inner = text.slice(1, text.length > 1 && text.endsWith(close) ? -1 : undefined);
  return open === "[" ? inner : inner.replaceAll(open + open, open);
}

/** Whether the statement is an ALTER: what the engine asks of the rows stands among its columns then, and is no result. */
export function isAlter(sql: string): boolean {
  return sqlTokens(sql, 1)[0]?.key === "ALTER";
}
