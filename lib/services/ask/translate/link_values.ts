// Finds where a question repeats values of the data: names, cities, states.
import type { FoundValue } from "../model/find_values.ts";
import type { AskSchema } from "../model/ask_schema.ts";
import { noted } from "./kept_schemas.ts";
import { cues } from "./lexicon.ts";
import type { Mention, ValueHit } from "./link_names.ts";
import { superlatives } from "./scales.ts";
import { formsOf } from "./likeness.ts";
import type { Token } from "./tokens.ts";

const MAX_SPAN = 5;
const MAX_PHRASES = 400;

/** Words that data stores as one letter, in columns named after them. */
const letters: readonly (readonly [words: RegExp, column: RegExp, values: readonly string[]])[] = [
  [/^(females?|women|woman|girls?)$/, /sex|gender/i, ["F", "female", "w", "woman"]],
  [/^(males?|men|man|boys?)$/, /sex|gender/i, ["M", "male", "man"]],
];

interface Span {
  readonly at: number;
  readonly end: number;
  readonly phrases: readonly string[];
}

/** What to look up, by where it stands. */
export function valueSpans(tokens: readonly Token[], used: readonly boolean[], question: string): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < tokens.length; at++) {
    for (let end = at + 1; end <= Math.min(tokens.length, at + MAX_SPAN); end++) {
      if (used.slice(at, end).includes(true)) break;
      const part = tokens.slice(at, end);
      if (part.every(({ lower, quoted }) => !quoted && isCommon(lower))) continue;
      const text = question.slice(tokens[at]?.start ?? 0, tokens[end - 1]?.end ?? 0);
      spans.push({ at, end, phrases: spellings(text, end - at === 1) });
    }
  }
  return spans;
}

const glossedValues = noted(({ tables }: AskSchema): string[] =>
  tables.flatMap(({ columns }) => columns.flatMap(glossesOf).map(({ value }) => value))
);

/** The texts to look for among the values of the columns, each once: those of the question first, at most 400. */
export function phrasesOf(spans: readonly Span[], schema: AskSchema): string[] {
  return [...new Set([...spans.flatMap(({ phrases }) => phrases), ...glossedValues(schema)])].slice(
    0,
    MAX_PHRASES,
  );
}

/**
 * The mentions with the values that were found. A value of more words than a name's takes its place; where both are the
 * same words, both stay possible.
 */
export function withValues(
  mentions: readonly Mention[],
  { spans, tokens, found, schema }: {
    readonly spans: readonly Span[];
    readonly tokens: readonly Token[];
    readonly found: readonly FoundValue[];
    readonly schema: AskSchema;
  },
): Mention[] {
  let all = [...mentions];
  const hits = hitsOf(found, schema);
  const longest = spans.toSorted((a, b) => (b.end - b.at) - (a.end - a.at) || a.at - b.at);
  for (const span of [...glossSpans(tokens, hits), ...longest]) {
    const wanted = new Set(span.phrases.map((phrase) => phrase.toLowerCase()));
    const letter = letters.find(([words]) => words.test(tokens[span.at]?.lower ?? ""));
    const values = hits.filter(({ ref, value }) =>
      wanted.has(value.toLowerCase()) &&
      (letter === undefined || span.end - span.at > 1 || letter[1].test(ref.column.name))
    );
    // "people" are whoever is asked for, unless they are written as the value is.
    const generic = span.end - span.at === 1 &&
      /^(people|persons?|everyone|others?)$/.test(tokens[span.at]?.text ?? "");
    if (values.length === 0 || generic) continue;
    const same = all.filter((one) => one.at < span.end && one.end > span.at);
    if (same.some((one) => one.values.length > 0 || one.end - one.at > span.end - span.at)) continue;
    const [own] = same;
    const kept = own && own.at === span.at && own.end === span.end && tokens[span.at]?.quoted !== true;
    all = all.filter((one) => !same.includes(one));
    all.push(
      kept
        ? { ...own, values }
        : { at: span.at, end: span.end, values, table: null, columns: [], states: [], score: 1, weak: false },
    );
  }
  return all.toSorted((a, b) => a.at - b.at);
}

function hitsOf(found: readonly FoundValue[], { tables }: AskSchema): ValueHit[] {
  return found.flatMap((one) => {
    const table = tables.find(({ name }) => name === one.table);
    const column = table?.columns.find(({ name }) => name === one.column);
    return table && column ? [{ ref: { table, column }, value: one.value }] : [];
  });
}

const articles = /^(the|a|an|is|was|are|it|they|has|have|been)$/;

interface Gloss {
  readonly value: string;
  readonly words: readonly string[];
}

/** What a description says beside a value: "no_show (the patient did not show up), Cardiology (cardiologist)". */
function glossesOf({ description }: { readonly description: string }): Gloss[] {
  return [...description.matchAll(/(?<![\p{L}\p{N}_-])([\p{L}\p{N}_-]+) \(([^)]{2,60})\)/gu)].map((
    [, value = "", text = ""],
  ) => ({
    value,
    words: text.toLowerCase().split(/\s+/).filter((word) => !articles.test(word)),
  }));
}

/** Where the words of such a gloss stand in the question, the last ones of them in a row. */
function glossSpans(tokens: readonly Token[], hits: readonly ValueHit[]): Span[] {
  return hits.flatMap(({ ref, value }) =>
    glossesOf(ref.column).filter((gloss) => gloss.value === value).flatMap(({ words }) => {
      const said = words.slice(Math.max(0, words.indexOf("not")));
      return tokens.flatMap((_, at): Span[] => {
        const fits = said.length > 0 &&
          said.every((word, step) => formsOf(word).some((form) => tokens[at + step]?.forms.includes(form)));
        return fits ? [{ at, end: at + said.length, phrases: [value] }] : [];
      });
    })
  );
}

function isCommon(word: string): boolean {
  return cues.has(word) || superlatives.has(word);
}

/**
 * The spellings to look up: as typed, with `_` and `-` instead of spaces; for one word also the singular and the
 * letter that stands for it.
 */
function spellings(text: string, single: boolean): string[] {
  const all = [
    text,
    text.replaceAll(/[\s-]+/g, "_"),
    text.replaceAll(/[\s_]+/g, "-"),
    text.replaceAll(/[-_]/g, " "),
  ];
  if (single) {
    const lower = text.toLowerCase();
    if (lower.endsWith("ies")) all.push(`${text.slice(0, -3)}y`);
    if (lower.endsWith("es")) all.push(text.slice(0, -2));
    if (lower.endsWith("s")) all.push(text.slice(0, -1));
    else all.push(`${text}s`);
    for (const [words, , values] of letters) if (words.test(lower)) all.push(...values);
  }
  return [...new Set(all)];
}
