// Ranks the database, its tables and its columns by the words of a question (BM25+ with prefixes and small typos).
import MiniSearch, { type SearchOptions } from "minisearch";
import type { SchemaFacts } from "./schema_facts.ts";
import { joinedName, questionWords, splitWords, wordForms } from "./search_words.ts";

/** One thing that was found. */
export interface SearchHit {
  readonly kind: "database" | "table" | "column";
  /** Empty for the database. */
  readonly table: string;
  readonly column: string | null;
  readonly description: string;
  /** Above zero. Only scores of one answer can be compared. */
  readonly score: number;
}

/** One thing that can be found. For a column, `parent` is the table's name in both forms. */
interface Entry {
  readonly id: number;
  readonly name: string;
  /** The name as one word: `fullName` is found by `fullname` too. */
  readonly joined: string;
  readonly description: string;
  readonly parent: string;
}

type Found = Omit<SearchHit, "score">;

/** All forms of one word. */
type Word = readonly string[];

const FIELDS = ["name", "joined", "description", "parent"] as const;

/** The weight of a match with a typo; one without counts 1. */
const TYPO_WEIGHT = 0.45;

/** The weight of the name: a name that matches as a whole comes before names that only begin the same. */
const NAME_WEIGHT = 2;

const options: SearchOptions = {
  boost: { name: 3, joined: 1, description: 2, parent: 1 },
  combineWith: "OR",
  prefix: (term) => term.length >= 3,
  // Words of 4 to 7 letters may have one wrong letter, longer ones two.
  fuzzy: (term) => term.length < 4 ? false : term.length < 8 ? 1 : 2,
  weights: { fuzzy: TYPO_WEIGHT, prefix: 0.5 },
};

/** The search index of one schema. */
export class RankedSchema {
  readonly #found: readonly Found[];
  /** Words of the names in `#found`, at the same index. */
  readonly #words: readonly (readonly Word[])[];
  readonly #index: MiniSearch<Entry>;
  /** Every form of a word by which something can be found. */
  readonly #known: ReadonlySet<string>;

  constructor(schema: SchemaFacts) {
    const found: Found[] = [];
    const entries: Entry[] = [];
    const add = (hit: Found, entry: Omit<Entry, "id" | "joined">) => {
      entries.push({ id: found.length, ...entry, joined: joinedName(entry.name) });
      found.push(hit);
    };
    add(
      { kind: "database", table: "", column: null, description: schema.databaseDescription },
      { name: "", description: schema.databaseDescription, parent: "" },
    );
    for (const table of schema.tables) {
      add(
        { kind: "table", table: table.name, column: null, description: table.description },
        { name: table.name, description: table.description, parent: "" },
      );
      for (const column of table.columns) {
        add(
          { kind: "column", table: table.name, column: column.name, description: column.description },
          {
            name: column.name,
            description: column.description,
            parent: `${table.name} ${joinedName(table.name)}`,
          },
        );
      }
    }
    this.#found = found;
    const forms = new Map<string, string[]>();
    const formsOf = (word: string) => {
      const own = forms.get(word) ?? wordForms(word);
      forms.set(word, own);
      return own;
    };
    this.#words = entries.map(({ name }) => splitWords(name).map(formsOf));
    this.#index = new MiniSearch<Entry>({
      fields: [...FIELDS],
      tokenize: splitWords,
      processTerm: formsOf,
    });
    this.#index.addAll(entries);
    this.#known = new Set([...forms.values()].flat());
  }

  /** The best `limit` hits, best first; equal hits in the order of the schema. */
  search(question: string, limit: number): SearchHit[] {
    const asked = new Map(questionWords(question).map((word) => [word, wordForms(word)]));
    const plain = new Set([...asked.values()].flat());
    const formsOf = (word: string) => [...asked.get(word) ?? [], ...this.#unswapped(word)];
    const words = [...asked.keys()].map(formsOf);
    const ranked = this.#index.search(question, {
      ...options,
      tokenize: questionWords,
      processTerm: formsOf,
      boostTerm: (form) => plain.has(form) ? 1 : TYPO_WEIGHT,
    });
    return ranked.map(({ id, score, queryTerms, match }) => ({
      id: Number(id),
      score: score * share(words, queryTerms) *
        (1 + NAME_WEIGHT * share(this.#words[Number(id)] ?? [], Object.keys(match)) ** 2),
    }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, limit)
      .flatMap(({ id, score }) => {
        const found = this.#found[id];
        return found ? [{ ...found, score: Math.round(score * 1000) / 1000 }] : [];
      });
  }

  /**
   * Known words that differ from an unknown one by two swapped letters: one typo, which the index would count as two.
   */
  #unswapped(word: string): string[] {
    if (word.length < 4 || this.#known.has(word)) return [];
    return swaps(word).filter((one) => this.#known.has(one));
  }
}

/** All words made by swapping two neighbouring letters. */
function swaps(word: string): string[] {
  const letters = [...word];
  return letters.slice(1).map((letter, at) =>
    letters.with(at, letter).with(at + 1, letters[at] ?? "").join("")
  );
}

/**
 * The share of the words that matched. For the words of the question: a hit with both things that are asked for beats
 * a hit with one. For the words of the name: whoever asks for invoices means that table rather than its
 * `invoice_total`. The database has no name and no share.
 */
function share(words: readonly Word[], matched: readonly string[]): number {
  if (words.length === 0) return 0;
  const terms = new Set(matched);
  return words.filter((forms) => forms.some((form) => terms.has(form))).length / words.length;
}
