// Words that only descriptions have: "What the employee earns" lets a question say "earn" for `salary_cents`.
import { splitWords, wordForms } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { cues, silentWords } from "./lexicon.ts";
import { unitOf } from "./units.ts";

/** A word of a description. Column null: of a table's. */
export interface DescribedWord {
  readonly table: AskTable;
  readonly column: ColumnFacts | null;
  readonly word: string;
}

/** Characters of a description that are read. */
export const MAX_DESCRIPTION = 500;

const common =
  /^(when|where|what|which|whom|whose|how|often|long|many|much|until|since|day|days|date|time|moment|last|first|until|empty|otherwise|number|one|it|its|that|this|what|then|some|somebody|somewhere|goods|thing|things|way|day|set|true|false|yes|no|unix|row|rows|per|such|e|etc|also|only|not|nor|than|left|while|whether|went|out|off|up|public|case|part|kind|type|pieces?|units?)$/;

/** "A property: a house or a flat", "A track (song) of an album": what a row is, by how its table's description begins. */
export function describedNouns({ tables }: AskSchema): DescribedWord[] {
  const named = namedForms(tables);
  const all = tables.flatMap(({ description }, at) => {
    const [, noun, other] =
      /^(?:an?|one)\s+(\p{L}{3,})(?:\s*\((\p{L}{3,})\))?(?=\s*(?:[:;,.]|$)|\s+(?:that|who|whom|which|of|at|in|for|on)\b)/iu
        .exec(description) ?? [];
    return [noun, other].flatMap((word) => word ? [{ at, word: word.toLowerCase() }] : []);
  });
  return all.flatMap(({ at, word }) => {
    const table = tables[at];
    const forms = wordForms(word);
    const taken = forms.some((form) => named.has(form)) || common.test(word) || cues.has(word) ||
      all.some((one) => one.at !== at && wordForms(one.word).some((form) => forms.includes(form)));
    return table && !taken ? [{ table, column: null, word }] : [];
  });
}

function namedForms(tables: AskSchema["tables"]): ReadonlySet<string> {
  const names = tables.flatMap((table) => [table.name, ...table.columns.map(({ name }) => name)]);
  return new Set(names.flatMap(splitWords).flatMap(wordForms));
}

/**
 * The words that stand in one column's description, but for what it says of states, and in no other column's, in no name, and name no
 * unit. Of a table's description only its verbs: "a copy that a member has borrowed".
 */
export function describedWords({ tables }: AskSchema): DescribedWord[] {
  const named = namedForms(tables);
  const all = tables.flatMap((table): DescribedWord[] => [
    ...wordsIn(table.description).filter((word) => /(ed|ing)$/.test(word)).map((word) => ({
      table,
      column: null,
      word,
    })),
    ...table.columns.flatMap((column) =>
      wordsIn(column.description).map((word) => ({ table, column, word }))
    ),
  ]);
  const telling = all.filter(({ word }) => !wordForms(word).some((form) => named.has(form)));
  const places = new Map<string, number>();
  for (const { word } of telling) {
    for (const form of new Set(wordForms(word))) places.set(form, (places.get(form) ?? 0) + 1);
  }
  return telling.filter(({ word }) => wordForms(word).every((form) => places.get(form) === 1));
}

function wordsIn(description: string): string[] {
  const clauses = description.slice(0, MAX_DESCRIPTION).split(/[;.(:,]/).filter((clause) =>
    !/\b(empty|null|unset|0|1|true|false|yes|no)\b/i.test(clause)
  );
  return [...new Set(splitWords(clauses.join(" ")))].filter((word) =>
    word.length >= 4 && !common.test(word) && !cues.has(word) && !silentWords.has(word) &&
    unitOf(word) === null
  );
}
