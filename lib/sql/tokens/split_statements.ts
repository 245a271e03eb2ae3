// Cuts a text of several statements where each of them ends. Pure; it never fails, whatever the text is.
import { type SqlToken, sqlTokens } from "./sql_tokens.ts";

/** One statement of a text. */
export interface StatementPart {
  /** From its first to its last character, with the comments inside and before it, without the final semicolon. */
  readonly sql: string;
  /** Offset of `sql` in the text. */
  readonly at: number;
}

/** The statements of a text in order. Pieces that hold nothing but white space and comments are left out. */
export function splitStatements(text: string): StatementPart[] {
  const parts: StatementPart[] = [];
  let own: SqlToken[] = [];
  let start = 0;
  const cut = (end: number) => {
    if (own.length > 0) {
      const piece = text.slice(start, end);
      const lead = piece.length - piece.trimStart().length;
      parts.push({ sql: piece.trim(), at: start + lead });
    }
    own = [];
  };
  for (const token of sqlTokens(text)) {
    if (token.key === ";" && endsStatement(own)) {
      cut(token.at);
      start = token.end;
    } else own.push(token);
  }
  cut(text.length);
  return parts;
}

/**
 * Whether a semicolon behind these tokens ends their statement. A trigger has semicolons of its own: it ends at the one that
 * follows `; END`.
 */
function endsStatement(own: readonly SqlToken[]): boolean {
  return !isTrigger(own) || (own.at(-1)?.key === "END" && own.at(-2)?.key === ";");
}

/** Whether the statement that begins with these tokens makes a trigger. */
export function isTrigger(tokens: readonly SqlToken[]): boolean {
  const words = tokens.slice(0, 4).map(({ key }) => key).filter((key) => key !== "EXPLAIN");
  return words[0] === "CREATE" &&
    (words[1] === "TRIGGER" || (/^TEMP(ORARY)?$/.test(words[1] ?? "") && words[2] === "TRIGGER"));
}
