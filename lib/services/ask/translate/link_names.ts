// Finds where a question names tables and columns, by the words of their names.
import { splitWords, wordForms } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { cues, silentWords, synonyms } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** A column and its table. */
export interface ColumnRef {
  readonly table: AskTable;
  readonly column: ColumnFacts;
}

/** Words of the question that name something, with several candidates where they fit equally well. */
export interface Mention {
  readonly at: number;
  readonly end: number;
  readonly table: AskTable | null;
  readonly columns: readonly ColumnRef[];
  /** 1: the question has every word of the name that people say. */
  readonly score: number;
}

interface Name {
  readonly table: AskTable;
  readonly column: ColumnFacts | null;
  /** Forms of each word. `said`: whether people say it. */
  readonly words: readonly { readonly forms: readonly string[]; readonly said: boolean }[];
  /** Keys have the name of the table that they lead to, so only their whole name means them. */
  readonly whole: boolean;
}

const MAX_SPAN = 4;
const MIN_SCORE = 0.5;

/** Mentions from left to right without overlaps; the longest and best one wins. */
export function linkNames(tokens: readonly Token[], schema: AskSchema, taken: readonly boolean[]): Mention[] {
  const names = schema.tables.flatMap(namesOf);
  const mentions: Mention[] = [];
  for (let at = 0; at < tokens.length; at++) {
    let best: Mention | null = null;
    for (let end = Math.min(tokens.length, at + MAX_SPAN); end > at; end--) {
      if (!isOpen(tokens, at, end, taken)) continue;
      const found = linkSpan(tokens, at, end, names);
      if (found && (best === null || found.score > best.score + 0.2)) best = found;
    }
    if (best === null) continue;
    mentions.push(best);
    at = best.end - 1;
  }
  return mentions;
}

/** Whether a span is free, and neither begins nor ends with a word that names nothing. */
function isOpen(tokens: readonly Token[], at: number, end: number, taken: readonly boolean[]): boolean {
  const edges = [tokens[at], tokens[end - 1]];
  // A preposition may be part of a longer name: "sign up".
  if (end - at === 2 && /^(up|in|on|out|off)$/.test(edges[1]?.lower ?? "")) edges.pop();
  return edges.every((token) => token !== undefined && !cues.has(token.lower) && token.number === null) &&
    !taken.slice(at, end).includes(true);
}

function linkSpan(tokens: readonly Token[], at: number, end: number, names: readonly Name[]): Mention | null {
  const span = tokens.slice(at, end);
  let score = MIN_SCORE - 0.01;
  let found: Name[] = [];
  for (const name of names) {
    const own = scoreOf(span, name);
    if (own > score) [score, found] = [own, [name]];
    else if (own === score) found.push(name);
  }
  if (found.length === 0) return null;
  const table = found.find(({ column }) => column === null)?.table ?? null;
  const columns = found.flatMap(({ table, column }) => column === null ? [] : [{ table, column }]);
  return { at, end, table, columns, score };
}

/** The share of a name's spoken words that the span has; 0 when the span has another word too. */
function scoreOf(span: readonly Token[], name: Name): number {
  let best = cover(span.map(({ forms }) => forms), name, 1);
  // A name written as one word must match the joined words: "sign up" for `signup`.
  const joined = wordForms(span.map(({ lower }) => lower).join(""));
  const exact = name.words.some(({ forms }) => joined.some((form) => forms.includes(form)));
  if (span.length > 1 && exact) best = Math.max(best, cover([joined], name, 1));
  const [only] = span;
  const other = span.length === 1 && only ? synonyms.get(only.lower) : undefined;
  for (const [rank, word] of (other ?? []).entries()) {
    best = Math.max(best, cover([wordForms(word)], name, 0.85 - rank / 50));
  }
  return name.whole && best < 1 ? 0 : best;
}

function cover(reading: readonly (readonly string[])[], name: Name, weight: number): number {
  const matched = new Set<number>();
  let strength = 1;
  for (const forms of reading) {
    const near = name.words.map((word, at) => matched.has(at) ? 0 : likeness(forms, word.forms));
    const most = Math.max(0, ...near);
    if (most === 0) return 0;
    matched.add(near.indexOf(most));
    strength = Math.min(strength, most);
  }
  const spoken = name.words.map((word, at) => word.said || matched.has(at));
  const wanted = spoken.filter(Boolean).length;
  // Only words such as "date" or "at", which say next to nothing.
  if (name.words.some(({ said }) => said) && ![...matched].some((at) => name.words[at]?.said)) return 0;
  return weight * strength * matched.size / wanted;
}

/** 1 for the same word, less for a related one ("teach", "teacher"). */
function likeness(one: readonly string[], other: readonly string[]): number {
  if (one.some((form) => other.includes(form))) return 1;
  let best = 0;
  for (const a of one) {
    for (const b of other) {
      let common = 0;
      while (common < a.length && a[common] === b[common]) common++;
      const longer = Math.max(a.length, b.length);
      const shorter = Math.min(a.length, b.length);
      if (common >= 5 && (common === shorter && longer - shorter <= 3 || common / longer >= 0.75)) best = 0.9;
    }
  }
  return best;
}

function namesOf(table: AskTable): Name[] {
  const keys = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
  const own = splitWords(table.name).flatMap(wordForms);
  return [
    { table, column: null, words: wordsOf(table.name, [], false), whole: false },
    ...table.columns.map((column): Name => ({
      table,
      column,
      words: wordsOf(column.name, own, true),
      whole: column.pk > 0 || keys.has(column.name) || /(^|_)id$|[a-z]Id$/.test(column.name),
    })),
  ];
}

/** A column of `products` may be named `product_name`: the question need not repeat the table's name. */
function wordsOf(name: string, tableWords: readonly string[], quiet: boolean): Name["words"] {
  const words = splitWords(name);
  const described = words.map((word) => {
    const forms = wordForms(word);
    const silent = silentWords.has(word) || forms.some((form) => tableWords.includes(form));
    return { forms, said: !(quiet && silent) };
  });
  return described.some(({ said }) => said)
    ? described
    : described.map(({ forms }) => ({ forms, said: true }));
}
