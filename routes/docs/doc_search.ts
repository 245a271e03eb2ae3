// Finds sections of the documentation by the words of a question, with the library and the word forms of schema
// search.
import MiniSearch, { type SearchOptions } from "minisearch";
import { ownTurn } from "../../lib/core/own_turn.ts";
import { questionWords, splitWords, wordForms } from "../../lib/services/schema/search_words.ts";
import type { ReadPage } from "./library.ts";

/** A section that was found. */
export interface DocHit {
  readonly href: string;
  /** Title of the page. */
  readonly title: string;
  /** Null where the page's introduction is what was found. */
  readonly heading: string | null;
  /** Text around the first word that was found, in pieces; `found` marks the words. */
  readonly excerpt: readonly { readonly text: string; readonly found: boolean }[];
}

interface Section {
  readonly id: number;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly href: string;
}

const MAX_HITS = 20;
/** Sections after which other work has its turn: some milliseconds. */
const SECTIONS_A_TURN = 10;
/** Words of a question that are looked for: anybody may ask, and each costs a walk through the index. */
const MAX_WORDS = 8;
/** Characters of an excerpt, and those before the first word that was found. */
const EXCERPT = 220;
const LEAD = 60;

const options: SearchOptions = {
  tokenize: questionWords,
  processTerm: wordForms,
  boost: { heading: 3, title: 2 },
  prefix: (term) => term.length >= 3,
  fuzzy: (term) => term.length < 5 ? false : 1,
  weights: { fuzzy: 0.3, prefix: 0.6 },
};

/** An index of the sections of all pages. */
export class DocSearch {
  readonly #sections: readonly Section[];
  readonly #index: MiniSearch<Section>;
  /** Forms of every word of the pages. */
  readonly #forms = new Map<string, readonly string[]>();

  private constructor(pages: readonly ReadPage[]) {
    this.#sections = pages.flatMap(({ page, sections }) =>
      sections.map(({ heading, text }) => ({
        title: page.title,
        heading: heading?.text ?? "",
        text,
        href: `/docs/${page.slug}${heading ? `#${heading.id}` : ""}`,
      }))
    ).map((section, id) => ({ id, ...section }));
    this.#index = new MiniSearch<Section>({
      fields: ["title", "heading", "text"],
      tokenize: splitWords,
      processTerm: (word) => [...this.#learn(word)],
    });
  }

  /** Of some pages. It takes some tenths of a second: other work has its turns. */
  static async of(pages: readonly ReadPage[]): Promise<DocSearch> {
    const made = new DocSearch(pages);
    for (const section of made.#sections) {
      made.#index.add(section);
      if (section.id % SECTIONS_A_TURN === 0) await ownTurn();
    }
    return made;
  }

  /** Best first. */
  search(question: string): DocHit[] {
    const words = questionWords(question).slice(0, MAX_WORDS);
    const formsOfWords = words.map(wordForms);
    const ranked = this.#index.search(words.join(" "), options).map(({ id, score, match, queryTerms }) => {
      // Who asks for two things means what has both.
      const found = formsOfWords.filter((forms) => forms.some((form) => queryTerms.includes(form)));
      return { id, match, score: score * (found.length / words.length) ** 2 };
    }).sort((a, b) => b.score - a.score);
    return ranked.slice(0, MAX_HITS).flatMap(({ id, match }) => {
      const section = this.#sections[Number(id)];
      if (!section) return [];
      const { href, title, heading, text } = section;
      return [{ href, title, heading: heading || null, excerpt: this.#excerpt(text, Object.keys(match)) }];
    });
  }

  #learn(word: string): readonly string[] {
    const forms = this.#forms.get(word) ?? wordForms(word);
    this.#forms.set(word, forms);
    return forms;
  }

  /** `forms`: the forms of words by which the section was found. */
  #excerpt(text: string, forms: readonly string[]): DocHit["excerpt"] {
    const known = new Set(forms);
    const isFound = (word: string) =>
      splitWords(word).some((part) => this.#forms.get(part)?.some((form) => known.has(form)) ?? false);
    const words: RegExpExecArray[] = [];
    for (const match of text.matchAll(WORD)) {
      // What stands behind the excerpt is not looked at.
      if (match.index > (words[0]?.index ?? match.index) + EXCERPT) break;
      if (isFound(match[0])) words.push(match);
    }
    return excerptOf(text, words);
  }
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;

/** `words`: where they were found. */
function excerptOf(text: string, words: readonly RegExpExecArray[]): DocHit["excerpt"] {
  const first = words[0]?.index ?? 0;
  const start = first <= LEAD ? 0 : text.lastIndexOf(" ", first - LEAD) + 1;
  const end = start + EXCERPT >= text.length ? text.length : text.lastIndexOf(" ", start + EXCERPT);
  const pieces: { text: string; found: boolean }[] = [];
  let at = start;
  for (const { 0: word, index } of words.filter(({ index }) => index >= start && index < end)) {
    pieces.push({ text: text.slice(at, index), found: false }, { text: word, found: true });
    at = index + word.length;
  }
  pieces.push({ text: text.slice(at, end) + (end < text.length ? " …" : ""), found: false });
  if (start > 0) pieces.unshift({ text: "… ", found: false });
  return pieces.filter((piece) => piece.text !== "");
}
