// A text of SQL cut into pieces with the colour of each, for whoever shows it. Pure; it never fails.
import { keywordDefs, tokenName } from "sqlite3-parser";
import { tokenize } from "./grammar.ts";

/** The colours: those of the editor. */
export type TokenColour = "keyword" | "string" | "number" | "comment" | "parameter";

/** A piece of the text; without a colour it looks like any text. */
export interface ColouredToken {
  readonly text: string;
  readonly colour: TokenColour | null;
}

const keywords: ReadonlySet<string> = new Set(keywordDefs.keywords.map(({ token }) => token));
const colours: Readonly<Record<string, TokenColour>> = {
  STRING: "string",
  BLOB: "string",
  INTEGER: "number",
  FLOAT: "number",
  QNUMBER: "number",
  COMMENT: "comment",
  VARIABLE: "parameter",
};

/** The whole text in pieces; neighbours without a colour are one. */
export function colouredTokens(sql: string): ColouredToken[] {
  const pieces: ColouredToken[] = [];
  let plain = "";
  let end = 0;
  const flush = () => {
    if (plain !== "") pieces.push({ text: plain, colour: null });
    plain = "";
  };
  for (const { type, text, span } of tokenize(sql, { emitTrivia: true })) {
    end = span.offset + span.length;
    const name = tokenName(type) ?? "";
    const colour = colours[name] ?? (keywords.has(name) ? "keyword" : null);
    if (colour === null) {
      plain += text;
      continue;
    }
    flush();
    pieces.push({ text, colour });
  }
  plain += sql.slice(end);
  flush();
  return pieces;
}
