// The names and states of a schema, by the words that say them.
import { splitWords } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { describedNouns, describedWords } from "./described_words.ts";
import { noted } from "./kept_schemas.ts";
import { silentWords } from "./lexicon.ts";
import { formsOf, isSame } from "./likeness.ts";
import { type State, statesOf } from "./states.ts";

/** The most words of a name that a question is compared with: nobody says more of them. */
const MAX_WORDS = 6;

/** A name of a table or column. */
export interface Name {
  readonly table: AskTable;
  readonly column: ColumnFacts | null;
  /** Forms of each word. `said`: whether people say it. */
  readonly words: readonly NameWord[];
  /** Keys have the name of the table that they lead to, so only their whole name means them. */
  readonly whole: boolean;
  readonly weak: boolean;
}

export interface NameWord {
  readonly forms: readonly string[];
  readonly said: boolean;
  /** Of the table's name: it may stand before the column's words, as in "product price". */
  readonly lead: boolean;
}

/** Names and states by each form of each of their words. */
export interface Index {
  readonly names: ReadonlyMap<string, readonly Name[]>;
  readonly states: ReadonlyMap<string, readonly State[]>;
}

/** What a schema has of them. */
export const indexOf = noted((schema: AskSchema): Index => {
  const names = [
    ...schema.tables.flatMap(namesOf).filter((name) =>
      name.column !== null || !isJunction(name.table, schema)
    ),
    ...describedWords(schema).map(weakName),
    ...describedNouns(schema).map((one): Name => ({ ...weakName(one), weak: false })),
  ];
  return {
    names: byForm(names, ({ words }) => words.flatMap(({ forms }) => forms)),
    states: byForm(schema.tables.flatMap(statesOf), ({ words }) => words.flat()),
  };
});

function byForm<Of>(all: readonly Of[], formsIn: (one: Of) => readonly string[]): Map<string, Of[]> {
  const found = new Map<string, Of[]>();
  for (const one of all) {
    for (const form of new Set(formsIn(one))) found.set(form, [...found.get(form) ?? [], one]);
  }
  return found;
}

/** A table between two others is named after both: "posts tagged" speaks of those. */
function isJunction(table: AskTable, { tables }: AskSchema): boolean {
  const words = splitWords(table.name).map(formsOf);
  const others = tables.filter((one) => one !== table).map(({ name }) => splitWords(name).map(formsOf));
  return words.length > 1 &&
    words.every((word) => others.some(([only, ...more]) => only && more.length === 0 && isSame(word, only)));
}

function namesOf(table: AskTable): Name[] {
  const keys = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
  const own = splitWords(table.name).slice(0, MAX_WORDS);
  return [
    { table, column: null, words: wordsOf(table.name), whole: false, weak: false },
    ...table.columns.map((column): Name => ({
      table,
      column,
      weak: false,
      words: wordsOf(column.name, own),
      whole: column.pk > 0 || keys.has(column.name) || /(^|_)id$|[a-z]Id$/.test(column.name),
    })),
  ];
}

function weakName({ table, column, word }: ReturnType<typeof describedWords>[number]): Name {
  return {
    table,
    column,
    weak: true,
    whole: false,
    words: [{ forms: formsOf(word), said: true, lead: false }],
  };
}

/** A column of `products` may be named `product_name`, or asked for as "product price": its table's words are silent. */
function wordsOf(name: string, ofTable: readonly string[] | null = null): Name["words"] {
  const words = splitWords(name).slice(0, MAX_WORDS);
  const tableWords = ofTable ?? [];
  const others = tableWords.flatMap(formsOf);
  const described = words.map((word) => {
    const forms = formsOf(word);
    const silent = silentWords.has(word) || forms.some((form) => others.includes(form));
    return { forms, said: ofTable === null || !silent, lead: false };
  });
  const spoken = described.some(({ said }) => said)
    ? described
    : described.map((word) => ({ ...word, said: true }));
  const table = tableWords.filter((word) =>
    !words.some((own) => formsOf(own).some((form) => formsOf(word).includes(form)))
  );
  return [...spoken, ...table.map((word) => ({ forms: formsOf(word), said: false, lead: true }))];
}
