// Splits a question into words, numbers and quoted phrases, each with its position in the text.
import { wordForms } from "../../schema/search_words.ts";
import { numberWords } from "./lexicon.ts";

/** One word, number or quoted phrase. */
export interface Token {
  /** As typed, without punctuation around it and without a possessive. */
  readonly text: string;
  readonly lower: string;
  /** The forms by which it is found, see `wordForms`. */
  readonly forms: readonly string[];
  /** Digits or a number word. */
  readonly number: number | null;
  readonly quoted: boolean;
  /** Offset in the question. */
  readonly start: number;
  readonly end: number;
}

const PATTERN =
  /"([^"]+)"|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])|\d{1,3}(?:,\d{3})+(?:\.\d+)?|[^\s,;:?!()"]+/gu;

/** The tokens of a question, in order. */
export function readTokens(question: string): Token[] {
  const tokens: Token[] = [];
  for (const match of question.matchAll(PATTERN)) {
    const quoted = match[1] ?? match[2];
    const lead = quoted === undefined ? /^['’([{*]+/.exec(match[0])?.[0].length ?? 0 : 1;
    const text = quoted ?? match[0].slice(lead).replace(/['’.*\])}]+$/u, "").replace(/['’]s$/iu, "");
    if (text === "") continue;
    const lower = text.toLowerCase();
    const start = match.index + lead;
    tokens.push({
      text,
      lower,
      quoted: quoted !== undefined,
      start,
      end: start + text.length,
      forms: wordForms(lower),
      number: quoted === undefined ? numberOf(lower) : null,
    });
  }
  return tokens;
}

/** `1,250.50`, `$20`, `15k`, `seven`. */
function numberOf(word: string): number | null {
  const known = numberWords.get(word);
  if (known !== undefined) return known;
  const digits = /^[-+]?[$€£]?(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?)(k|m)?[$€£%]?$/.exec(word);
  if (!digits) return null;
  const scale = digits[2] === "k" ? 1000 : digits[2] === "m" ? 1_000_000 : 1;
  const value = Number((digits[1] ?? "").replaceAll(",", "")) * scale;
  return word.startsWith("-") ? -value : value;
}
