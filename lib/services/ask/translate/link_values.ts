// Finds where a question repeats values in the data: names, cities, states.
import type { FoundValue } from "../model/find_values.ts";
import { cues, fillers, superlatives } from "./lexicon.ts";
import type { ColumnRef, Mention } from "./link_names.ts";
import type { Reading } from "./reading.ts";

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

/** Adds a condition for each value found. The words of a value no longer name a table or column. */
export async function linkValues(
  reading: Reading,
  question: string,
  findValues: (phrases: readonly string[]) => Promise<readonly FoundValue[]>,
): Promise<void> {
  const spans = spansOf(reading, question);
  const phrases = [...new Set(spans.flatMap((span) => span.phrases))].slice(0, MAX_PHRASES);
  const found = await findValues(phrases);
  for (const mention of reading.mentions) {
    if (mention.table && mention.score === 1) reading.context.add(mention.table);
  }
  for (const span of spans.toSorted((a, b) => (b.end - b.at) - (a.end - a.at) || a.at - b.at)) {
    if (reading.used.slice(span.at, span.end).includes(true)) continue;
    const wanted = new Set(span.phrases.map((phrase) => phrase.toLowerCase()));
    const hits = found.filter(({ value }) => wanted.has(value.toLowerCase()));
    if (hits.length > 0) accept(reading, span, hits);
  }
}

function accept(reading: Reading, span: Span, hits: readonly FoundValue[]): void {
  const overlapping = reading.mentions.filter((one) => one.at < span.end && one.end > span.at);
  const named = overlapping.some((one) => one.score === 1 && one.end - one.at >= span.end - span.at);
  if (named && reading.tokens[span.at]?.quoted !== true) return;
  const letter = letters.find(([words]) => words.test(reading.word(span.at)));
  const refs = refsOf(reading, hits).filter(({ column }) =>
    letter === undefined || span.end - span.at > 1 || letter[1].test(column.name)
  );
  const beside = neighbours(reading, span);
  const ref = refs.find((one) => beside.some((other) => isAbout(other, one))) ?? reading.nearest(refs);
  if (ref === null) return;
  reading.mentions = reading.mentions.filter((one) => !overlapping.includes(one));
  reading.take(span.at, span.end);
  const values = hits.filter((hit) => hit.table === ref.table.name && hit.column === ref.column.name);
  const not = takeNegation(reading, span.at);
  addValues(reading, ref, [...new Set(values.map(({ value }) => value))], not);
  reading.context.add(ref.table);
  // In "city Berlin" and "Kitchen category" the word beside the value only names its column.
  for (const other of beside) if (isAbout(other, ref)) reading.spend(other);
}

/** Two values of the same column are alternatives. */
function addValues(reading: Reading, ref: ColumnRef, values: readonly string[], not: boolean): void {
  const at = reading.conditions.findIndex((one) =>
    one.kind === "values" && one.ref.column === ref.column && one.not === not
  );
  const same = reading.conditions[at];
  if (same?.kind !== "values") reading.conditions.push({ kind: "values", ref, values, not });
  else reading.conditions[at] = { ...same, values: [...same.values, ...values] };
}

function neighbours(reading: Reading, { at, end }: Span): Mention[] {
  const skip = /^(is|are|was|of|in|the|named|called|=|a|an)$/;
  let before = at - 1;
  while (skip.test(reading.word(before))) before--;
  return reading.mentions.filter((one) =>
    !reading.spent.has(one) && (one.end === before + 1 || one.at === end)
  );
}

/**
 * A mention of the value's own column. One of its table says what kind of row it is and may still be what is asked
 * for.
 */
function isAbout(mention: Mention, ref: ColumnRef): boolean {
  return mention.columns.some(({ column }) => column === ref.column);
}

function refsOf({ schema }: Reading, hits: readonly FoundValue[]): ColumnRef[] {
  return schema.tables.flatMap((table) =>
    table.columns.filter(({ name }) => hits.some((hit) => hit.table === table.name && hit.column === name))
      .map(
        (column) => ({ table, column }),
      )
  );
}

/** "not pending", "other than Berlin", "except Toys". */
function takeNegation(reading: Reading, at: number): boolean {
  let index = at - 1;
  while (/^(in|from|the|a|an|of|been|yet|being)$/.test(reading.word(index))) index--;
  if (/^(not|except|excluding|isn't|aren't|wasn't|weren't|non)$/.test(reading.word(index))) {
    reading.take(index, index + 1);
    return true;
  }
  if (reading.word(index) !== "than" || reading.word(index - 1) !== "other") return false;
  reading.take(index - 1, index + 1);
  return true;
}

function spansOf(reading: Reading, question: string): Span[] {
  const { tokens, used } = reading;
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

function isCommon(word: string): boolean {
  return cues.has(word) || fillers.has(word) || superlatives.has(word);
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
    for (const [words, , values] of letters) if (words.test(lower)) all.push(...values);
  }
  return [...new Set(all)];
}
