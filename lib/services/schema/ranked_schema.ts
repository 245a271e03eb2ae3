// Ranks the database, its tables and its columns by the words of a question (BM25+ with prefixes and small typos).
import MiniSearch, { type SearchOptions } from "minisearch";
import type { ColumnFacts, SchemaFacts, TableFacts } from "./schema_facts.ts";
import { joinedName, questionWords, splitWords, wordForms } from "./search_words.ts";

/** What of a schema can be found. */
interface NamedSchema extends Pick<SchemaFacts, "databaseDescription"> {
  readonly tables: readonly NamedTable[];
}

interface NamedTable extends Pick<TableFacts, "name" | "description"> {
  readonly columns: readonly Pick<ColumnFacts, "name" | "description">[];
}

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

/** Entries that are indexed in one go: some 10 ms, after which others have their turn. */
const INDEXED_AT_ONCE = 400;

/** The search index of one schema. */
export class RankedSchema {
  readonly #found: Found[] = [];
  /** Words of the names in `#found`, at the same index. */
  readonly #words: (readonly Word[])[] = [];
  readonly #forms = new Map<string, string[]>();
  readonly #index = new MiniSearch<Entry>({
    fields: [...FIELDS],
    tokenize: splitWords,
    processTerm: (word) => this.#formsOf(word),
  });
  /** Every form of a word by which something can be found. */
  #known: ReadonlySet<string> = new Set();

  private constructor() {}

  /** Indexes the schema, piece by piece where it is large. */
  static async of(schema: NamedSchema): Promise<RankedSchema> {
    const made = new RankedSchema();
    const entries = entriesOf(schema);
    for (let start = 0; start < entries.length; start += INDEXED_AT_ONCE) {
      if (start > 0) await new Promise((resolve) => setTimeout(resolve));
      made.#add(entries.slice(start, start + INDEXED_AT_ONCE));
    }
    made.#known = new Set([...made.#forms.values()].flat());
    return made;
  }

  #add(entries: readonly NamedEntry[]): void {
    const first = this.#found.length;
    for (const { found, name } of entries) {
      this.#found.push(found);
      this.#words.push(splitWords(name).map((word) => this.#formsOf(word)));
    }
    this.#index.addAll(entries.map(({ name, parent, found: { description } }, at) => {
      return { id: first + at, name, joined: joinedName(name), description, parent };
    }));
  }

  #formsOf(word: string): string[] {
    const own = this.#forms.get(word) ?? wordForms(word);
    this.#forms.set(word, own);
    return own;
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

/** What can be found, with the name by which it is, and that of its table. */
interface NamedEntry extends Pick<Entry, "name" | "parent"> {
  readonly found: Found;
}

function entriesOf({ databaseDescription, tables }: NamedSchema): NamedEntry[] {
  const database = { kind: "database", table: "", column: null, description: databaseDescription } as const;
  const entries: NamedEntry[] = [{ found: database, name: "", parent: "" }];
  for (const { name: table, description, columns } of tables) {
    entries.push({ found: { kind: "table", table, column: null, description }, name: table, parent: "" });
    const parent = `${table} ${joinedName(table)}`;
    for (const { name, description } of columns) {
      entries.push({ found: { kind: "column", table, column: name, description }, name, parent });
    }
  }
  return entries;
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
