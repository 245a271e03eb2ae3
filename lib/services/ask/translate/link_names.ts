// Finds where a question names tables, columns and states, by the words of their names and descriptions.
import { splitWords } from "../../schema/search_words.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import type { ColumnRef } from "./column_kinds.ts";
import { singular } from "../../singular.ts";
import { cues, sensitiveName, synonyms, tails } from "./lexicon.ts";
import { formsOf, isAlike, isSame } from "./likeness.ts";
import { type Index, indexOf, type Name } from "./schema_names.ts";
import { isStateWord, type State, turned } from "./states.ts";
import type { Token } from "./tokens.ts";

/** A value that the data has, and where. */
export interface ValueHit {
  readonly ref: ColumnRef;
  readonly value: string;
}

/** Words of the question that mean something of the schema, with all that they may mean. */
export interface Mention {
  readonly at: number;
  readonly end: number;
  readonly table: AskTable | null;
  readonly columns: readonly ColumnRef[];
  readonly states: readonly State[];
  readonly values: readonly ValueHit[];
  /** 1: the question has every word of the name that people say. */
  readonly score: number;
  /** Only a description has the word, or the name has it as a verb ("ordered" for orders). */
  readonly weak: boolean;
}

const MAX_SPAN = 4;
const MIN_SCORE = 0.5;

/** Those that have a form of any of the words. */
function among<Of>(index: ReadonlyMap<string, readonly Of[]>, forms: readonly string[]): Of[] {
  return [...new Set(forms.flatMap((form) => index.get(form) ?? []))];
}

/** Mentions from left to right without overlaps; the longest and best one wins. */
export function linkNames(tokens: readonly Token[], schema: AskSchema, taken: readonly boolean[]): Mention[] {
  const index = indexOf(schema);
  const mentions: Mention[] = [];
  for (let at = 0; at < tokens.length; at++) {
    let best: Mention | null = null;
    for (let end = Math.min(tokens.length, at + MAX_SPAN); end > at; end--) {
      if (!isOpen(tokens, at, end, taken)) continue;
      const found = linkSpan(tokens, at, end, index);
      if (found && (best === null || found.score > best.score + 0.2)) best = found;
    }
    if (best === null) continue;
    const mention = withTail(tokens, best);
    mentions.push(mention);
    at = mention.end - 1;
  }
  return mentions;
}

/** Whether a span is free, and neither begins nor ends with a word that names nothing. */
function isOpen(tokens: readonly Token[], at: number, end: number, taken: readonly boolean[]): boolean {
  if (taken.slice(at, end).includes(true)) return false;
  const edges = [tokens[at], tokens[end - 1]];
  // A preposition may be part of a longer name: "sign up", and one alone may be a state: "out".
  if (/^(up|in|on|out|off)$/.test(edges[1]?.lower ?? "") && end - at <= 2) edges.pop();
  // "referred by" names whoever did.
  if (/^by$/.test(edges[1]?.lower ?? "") && end - at === 2 && /(ed|en|wn|ght)$/.test(edges[0]?.lower ?? "")) {
    edges.pop();
  }
  if (end - at === 1 && tokens[at]?.lower === "out") edges.pop();
  if (end - at > 1 && /^(first|last)$/.test(tokens[at]?.lower ?? "")) edges.shift();
  if (end - at === 1 && isTotal(tokens, at)) edges.splice(0);
  return edges.every((token) => token !== undefined && !cues.has(token.lower) && token.number === null);
}

/** "average total", "with a total over 20": what is named so, and not that it is added up. */
function isTotal(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.lower === "total" && !/^(number|of|the)$/.test(tokens[at + 1]?.lower ?? "") &&
    [1, 2].some((back) =>
      /^(average|avg|mean|highest|lowest|largest|biggest|smallest|maximum|minimum|with)$/.test(
        tokens[at - back]?.lower ?? "",
      )
    );
}

function linkSpan(tokens: readonly Token[], at: number, end: number, index: Index): Mention | null {
  const inside = tokens.slice(at, end);
  // "years of experience"
  const span = inside.length === 3 && inside[1]?.lower === "of"
    ? inside.filter((_, step) => step !== 1)
    : inside;
  const forms = span.flatMap(saidForms);
  const names = among(index.names, [...forms, ...joinedForms(span)]);
  const said = among(index.states, forms).flatMap((state) => stateIn(span, state) ?? []);
  let score = Math.max(MIN_SCORE - 0.01, said.length > 0 ? 0.8 : 0);
  let found: Name[] = [];
  for (const name of names) {
    const own = scoreOf(span, name);
    if (own > score) [score, found] = [own, [name]];
    else if (own === score || (own >= 0.8 && score >= 0.8 && said.length > 0)) found.push(name);
  }
  if (found.length === 0 && said.length === 0) return null;
  const strong = found.some(({ weak }) => !weak) ? found.filter(({ weak }) => !weak) : found;
  const named = strong.find(({ column }) => column === null);
  const columns = strong.flatMap(({ table, column }) =>
    column === null || sensitiveName.test(column.name) ? [] : [{ table, column }]
  );
  const verb = named !== undefined && /(ed|ing|ught|old|nt)$/.test(span.at(-1)?.lower ?? "") &&
    !splitWords(named.table.name).some((word) => formsOf(word).includes(span.at(-1)?.lower ?? ""));
  // "orders" is a noun, though "ordered" is a state.
  const states = named && !verb && !named.weak ? [] : said;
  const weak = strong.length > 0 && (verb || strong.every((one) => one.weak));
  return { at, end, columns, states, score, weak, table: named?.table ?? null, values: [] };
}

/** The forms of a word, of what it is called otherwise, and of what it negates. */
function saidForms({ lower, forms }: Token): string[] {
  const bare = negated(lower);
  const others = [...synonyms.get(lower) ?? [], ...(bare === null ? [] : [bare])];
  return [...forms, `=${lower}`, ...others.flatMap(formsOf)];
}

/** A name may be written as one word: "sign up" for `signup`. */
function joinedForms(span: readonly Token[]): readonly string[] {
  return span.length > 1 ? formsOf(span.map(({ lower }) => lower).join("")) : [];
}

/** "damaged" of "undamaged". */
function negated(word: string): string | null {
  return /^(?:un|in|non-?)(\p{L}{3,})$/u.exec(word)?.[1] ?? null;
}

/** The state that a span says: by all of its words in order, or by one of them with "un" in front. */
function stateIn(span: readonly Token[], state: State): State | null {
  const content = span.filter(({ lower }) => !cues.has(lower) || /^(up|in|on|out|off)$/.test(lower));
  if (span.length > 1 && content.length > state.words.length) return null;
  const fits = content.length === state.words.length &&
    state.words.every((forms, at) => isStateWord(content[at]?.forms ?? [], forms));
  if (fits) return state;
  const [only] = span;
  const bare = span.length === 1 ? negated(only?.lower ?? "") : null;
  const [word] = state.words;
  return bare && word && state.words.length === 1 && isStateWord(formsOf(bare), word) ? turned(state) : null;
}

/** "email address" is one name, and so is "phone number". */
function withTail(tokens: readonly Token[], mention: Mention): Mention {
  const fits = tails.get(tokens[mention.end]?.lower ?? "");
  const known = fits && mention.columns.some(({ column }) => fits.test(column.name)) ||
    (mention.weak || mention.score < 1) &&
      mention.columns.some(({ column }) => isSaid(tokens, mention, column.description));
  return known ? { ...mention, end: mention.end + 1 } : mention;
}

/** Whether a description goes on as the question does: "asking price". */
function isSaid(tokens: readonly Token[], { end }: Mention, description: string): boolean {
  const [last, next] = [tokens[end - 1], tokens[end]];
  const words = splitWords(description).map(formsOf);
  return last !== undefined && next !== undefined && !cues.has(next.lower) &&
    words.some((word, at) => isSame(last.forms, word) && isSame(next.forms, words[at + 1] ?? []));
}

/** The share of a name's spoken words that the span has; 0 when the span has another word too. */
function scoreOf(span: readonly Token[], name: Name): number {
  let best = cover(span.map(({ forms }) => forms), name, name.weak ? 0.6 : 1);
  if (name.weak) return best;
  // A name written as one word must match the joined words: "sign up" for `signup`.
  const joined = joinedForms(span);
  const exact = name.words.some(({ forms }) => joined.some((form) => forms.includes(form)));
  if (exact) best = Math.max(best, cover([joined], name, 1));
  const [only] = span;
  const other = span.length === 1 && only ? synonyms.get(only.lower) : undefined;
  for (const [rank, word] of (other ?? []).entries()) {
    best = Math.max(best, cover([formsOf(word)], name, 0.85 - rank / 50));
  }
  return name.whole && best < 1 ? 0 : best;
}

function cover(span: readonly (readonly string[])[], name: Name, weight: number): number {
  const matched = new Set<number>();
  let exact = 1;
  for (const forms of span) {
    const at = name.words.findIndex((word, index) => !matched.has(index) && isAlike(forms, word.forms));
    if (at < 0) return 0;
    const word = name.words[at];
    if (word?.lead && singular(forms[0] ?? "") !== forms[0]) return 0;
    if (word?.lead && matched.size > 0 && ![...matched].every((index) => name.words[index]?.lead)) return 0;
    if (word && !isSame(forms, word.forms)) exact = 0.95;
    matched.add(at);
  }
  const wanted = name.words.filter((word, at) => word.said || matched.has(at)).length;
  // Only words such as "date" or "at", which say next to nothing.
  if (name.words.some(({ said }) => said) && ![...matched].some((at) => name.words[at]?.said)) return 0;
  return weight * exact * matched.size / wanted;
}
