// Full-text searches that strangers type: words in quotes for MATCH, and which parameters a MATCH reads.
import { traverse } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";

/** Words of one search: above, FTS5 takes long for what nobody types. */
export const MAX_WORDS = 64;

/** A phrase in quotes or a word, with a `*` behind it where it is only the beginning of a word. */
const WORD = /"([^"]*)"(\*?)|([^\s"]+)/gu;

/** From the first of them only, so that a long row in front of a letter is looked at once, not from each of its characters. */
const LAST_STARS = /(?<!\*)\*+$/;

/** Words and signs of one search that are read: whoever types a million characters would hold up the service for nothing. */
const MAX_PARTS = 1000;

/**
 * Writes a search as an FTS5 query in which nothing is an operator: every word and every phrase in double quotes has to
 * occur, and a word that ends in `*` stands for its beginnings. Null where it holds no word. Of a text with far more
 * words than `MAX_WORDS`, or as many signs, only that is told.
 */
export function quotedWords(text: string): { readonly query: string; readonly words: number } | null {
  const words: string[] = [];
  let parts = 0;
  for (const [, phrase, phraseStar, word = ""] of text.matchAll(WORD)) {
    if (++parts > MAX_PARTS) return { query: "", words: parts };
    const bare = phrase ?? word.replace(LAST_STARS, "");
    const star = phrase === undefined ? word.endsWith("*") : phraseStar === "*";
    // A part without a letter or a digit has no words, and the engine would let it match nothing.
    if (/[\p{L}\p{N}\p{Co}\p{M}]/u.test(bare)) words.push(`"${bare}"${star ? "*" : ""}`);
  }
  return words.length === 0 ? null : { query: words.join(" "), words: words.length };
}

/** The parameters (from 0) whose values a MATCH, or a table called like a function, reads. */
export function matchedParameters(sql: string): ReadonlySet<number> {
  const parsed = parseStmt(sql);
  if (parsed.status === "error") return new Set();
  const all: { name: string; offset: number }[] = [];
  const ranges: { from: number; to: number }[] = [];
  traverse(parsed.root, {
    enter(node) {
      if (node.type === "VariableExpr") all.push({ name: node.name, offset: node.span.offset });
      const isMatch = node.type === "LikeExpr" && node.op.toUpperCase() === "MATCH";
      if (!isMatch && node.type !== "TableCallSelectTable") return;
      ranges.push({ from: node.span.offset, to: node.span.offset + node.span.length });
    },
  });
  all.sort((a, b) => a.offset - b.offset);
  const numbers = all.map(({ name }, at) => name === "?" ? at : Number(name.slice(1)) - 1);
  return new Set(
    numbers.filter((_, at) => {
      const { offset } = all[at] ?? { offset: -1 };
      return ranges.some(({ from, to }) => from <= offset && offset < to);
    }),
  );
}
