// Splits a question into words, numbers and quoted phrases, each with its position in the text.
import { formsOf } from "./likeness.ts";
import { numberWords } from "./lexicon.ts";

/** One word, number or quoted phrase. */
export interface Token {
  /** As typed, without punctuation around it and without a possessive. */
  readonly text: string;
  readonly lower: string;
  /** The forms by which it is found, see `formsOf`. */
  readonly forms: readonly string[];
  /** Digits or a number word. */
  readonly number: number | null;
  /** What is written onto the digits: `$`, `kg`, `%`. */
  readonly unit: string | null;
  readonly quoted: boolean;
  /** Offset in the question. */
  readonly start: number;
  readonly end: number;
}

const PATTERN =
  /"([^"]+)"|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])|[-+]?[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?[\p{L}$€£%]*|[^\s,;:?!()"]+/gu;
const NUMBER = /^([-+]?)([$€£]?)(\d+(?:\.\d+)?)(k\b)?([$€£%]|°?[a-z]{1,3}[\d²]?)?$/;

/** The tokens of a question, in order. "didn't" is two: "did" and "not"; "5+" is "5 or more". */
export function readTokens(question: string): Token[] {
  const tokens: Token[] = [];
  for (const match of question.matchAll(PATTERN)) {
    const quoted = match[1] ?? match[2];
    const lead = quoted === undefined ? /^['’([{*]+/.exec(match[0])?.[0].length ?? 0 : 1;
    const text = quoted ?? match[0].slice(lead).replace(/['’.*\])}]+$/u, "").replace(/['’]s$/iu, "");
    if (text === "") continue;
    const start = match.index + lead;
    const negated = quoted === undefined ? /^(\p{L}+?)(?:n['’]t)$/iu.exec(text)?.[1] : undefined;
    const place = { start, end: start + text.length, quoted: quoted !== undefined };
    const orMore = quoted === undefined ? /^(\d+)\+$/.exec(text)?.[1] : undefined;
    if (orMore !== undefined) tokens.push(...[orMore, "or", "more"].map((word) => tokenOf(word, place)));
    else if (negated === undefined) {
      tokens.push(tokenOf(tokens.length === 0 && /^view$/i.test(text) ? "show" : text, place));
    } else tokens.push(...[positive(negated), "not"].map((word) => tokenOf(word, place)));
  }
  return tokens;
}

/** "ca" of "can't" and "wo" of "won't". */
function positive(word: string): string {
  return { ca: "can", wo: "will" }[word.toLowerCase()] ?? word;
}

function tokenOf(text: string, place: Pick<Token, "start" | "end" | "quoted">): Token {
  const lower = text.toLowerCase();
  const { number, unit } = place.quoted ? { number: null, unit: null } : numberOf(lower);
  return { ...place, text, lower, forms: formsOf(lower), number, unit };
}

/** `1,250.50`, `$20`, `15k`, `500g`, `seven`. */
function numberOf(word: string): Pick<Token, "number" | "unit"> {
  const known = numberWords.get(word);
  if (known !== undefined) return { number: known, unit: null };
  const [, sign, before, digits, thousands, after] = NUMBER.exec(word.replaceAll(/(?<=\d),(?=\d{3})/g, "")) ??
    [];
  if (digits === undefined || (after !== undefined && /^(st|nd|rd|th)$/.test(after))) {
    return { number: null, unit: null };
  }
  const value = Number(digits) * (thousands === undefined ? 1 : 1000) * (sign === "-" ? -1 : 1);
  // Of two keys that large a number may be the other: then the word stands for nothing, and the question is refused.
  if (!Number.isSafeInteger(Math.trunc(value))) return { number: null, unit: null };
  return { number: value, unit: before || after || null };
}
