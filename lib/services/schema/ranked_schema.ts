// Ranks the database, its tables and its columns by the words of a question (BM25+ with prefixes and small typos).
import MiniSearch, { type SearchOptions } from "minisearch";
import { ownTurn } from "../../core/own_turn.ts";
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

/** What an entry was found by. */
interface Match {
  score: number;
  /** Forms of words of the question. */
  readonly forms: Set<string>;
  /** Words of the entry. */
  readonly terms: Set<string>;
}

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
  tokenize: (form) => [form],
  processTerm: (form) => form,
  prefix: (term) => term.length >= 3,
  // Words of 4 to 7 letters may have one wrong letter, longer ones two.
  fuzzy: (term) => term.length < 4 ? false : term.length < 8 ? 1 : 2,
  weights: { fuzzy: TYPO_WEIGHT, prefix: 0.5 },
};

/** Entries that are indexed, and those that are ranked, in one go: some 10 ms, after which others have their turn. */
const INDEXED_AT_ONCE = 400;
const RANKED_AT_ONCE = 2000;
/** Words of a question that are looked for, those that tell something: each costs a walk through the index. */
const MAX_WORDS = 16;

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

  /**
   * The best `limit` hits, best first; equal hits in the order of the schema. Each form of a word is looked for in one field
   * after the other, because all of a large schema may have it.
   */
  async search(question: string, limit: number): Promise<SearchHit[]> {
    const asked = new Map(questionWords(question).slice(0, MAX_WORDS).map((word) => [word, wordForms(word)]));
    const plain = new Set([...asked.values()].flat());
    const words = [...asked].map(([word, forms]) => [...forms, ...this.#unswapped(word)]);
    const matches = new Map<number, Match>();
    const turns = new Turns();
    for (const form of new Set(words.flat())) {
      const boostTerm = () => plain.has(form) ? 1 : TYPO_WEIGHT;
      for (const field of FIELDS) {
        const found = this.#index.search(form, { ...options, fields: [field], boostTerm });
        for (const { id, score, terms } of found) note(matches, Number(id), { score, form, terms });
        await turns.after(found.length);
      }
    }
    return await this.#best(matches, words, limit, turns);
  }

  async #best(
    matches: ReadonlyMap<number, Match>,
    words: readonly Word[],
    limit: number,
    turns: Turns,
  ): Promise<SearchHit[]> {
    let best: { readonly id: number; readonly score: number }[] = [];
    for (const [id, { score, forms, terms }] of matches) {
      const named = share(this.#words[id] ?? [], terms);
      const weight = forms.size * share(words, forms) * (1 + NAME_WEIGHT * named ** 2);
      best.push({ id, score: score * weight });
      if (best.length < limit + RANKED_AT_ONCE) continue;
      best = bestOf(best, limit);
      await turns.after(RANKED_AT_ONCE);
    }
    return bestOf(best, limit).flatMap(({ id, score }) => {
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

/** Adds what one search for one form has found. */
function note(
  matches: Map<number, Match>,
  id: number,
  { score, form, terms }: {
    readonly score: number;
    readonly form: string;
    readonly terms: readonly string[];
  },
): void {
  const match = matches.get(id) ?? { score: 0, forms: new Set(), terms: new Set() };
  match.score += score;
  match.forms.add(form);
  for (const term of terms) match.terms.add(term);
  matches.set(id, match);
}

function bestOf<One extends { readonly id: number; readonly score: number }>(
  ranked: readonly One[],
  limit: number,
): One[] {
  return ranked.toSorted((a, b) => b.score - a.score || a.id - b.id).slice(0, limit);
}

/** Lets others have their turns. */
class Turns {
  #ranked = 0;

  /** Call when so many entries have been looked at. */
  async after(entries: number): Promise<void> {
    this.#ranked += entries;
    if (this.#ranked < RANKED_AT_ONCE) return;
    this.#ranked = 0;
    await ownTurn();
  }
}

/**
 * The share of the words that matched. For the words of the question: a hit with both things that are asked for beats
 * a hit with one. For the words of the name: whoever asks for invoices means that table rather than its
 * `invoice_total`. The database has no name and no share.
 */
function share(words: readonly Word[], terms: ReadonlySet<string>): number {
  if (words.length === 0) return 0;
  return words.filter((forms) => forms.some((form) => terms.has(form))).length / words.length;
}
