// The word of a schema that somebody may have misspelled. It is only told: a guess would answer another question.
import { nearMatches } from "../../../sql/hints/hints.ts";
import { splitWords } from "../../schema/search_words.ts";
import type { AskSchema } from "../model/ask_schema.ts";
import { noted } from "./kept_schemas.ts";

/** Shorter words are near to too many others. */
const MIN_LENGTH = 5;

const wordsIn = noted(({ tables }: AskSchema): readonly string[] => {
  const names = tables.flatMap(({ name, columns }) => [name, ...columns.map((column) => column.name)]);
  return [...new Set(names.flatMap(splitWords))].filter(({ length }) => length >= MIN_LENGTH);
});

/** `; "custmers" may be "customers"`, and nothing where no word is near. */
export function nearWord(open: string, schema: AskSchema): string {
  for (const word of open.toLowerCase().split(" ")) {
    if (word.length < MIN_LENGTH) continue;
    const near = nearMatches(word, wordsIn(schema)).find((one) => Math.abs(one.length - word.length) <= 1);
    if (near !== undefined && near !== word) return `; "${word}" may be "${near}"`;
  }
  return "";
}
