// Questions that a schema has an answer for, to be shown where one was refused. Whoever shows them translates them first.
import { readableWords, splitWords } from "../../schema/search_words.ts";
import { formsOf } from "./likeness.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { dayOf, isKey, isNumber } from "./column_kinds.ts";
import { unitOf } from "./units.ts";

/** The most tables for which some are made. */
const MAX_TABLES = 3;

/** First about the tables that the question names. */
export function suggestions(question: string, { tables }: AskSchema): string[] {
  const asked = new Set(splitWords(question).flatMap(formsOf));
  const named = (table: AskTable) =>
    splitWords(table.name).some((word) => formsOf(word).some((form) => asked.has(form))) ? 0 : 1;
  const ranked = tables.filter(({ name, columns }) => columns.length > 0 && splitWords(name).length <= 4)
    .toSorted((a, b) => named(a) - named(b))
    .slice(0, MAX_TABLES);
  const made = ranked.map(suggestionsOf);
  return [0, 1, 2, 3].flatMap((at) => made.flatMap((one) => one[at] ?? []));
}

function suggestionsOf(table: AskTable): string[] {
  const name = readableWords(table.name).join(" ");
  const number = table.columns.find((column) => isNumber(table, column));
  const kind = table.columns.find((column) =>
    /^(status|state|category|kind|type|country|city|genre|level|priority)$/.test(
      splitWords(column.name).at(-1) ?? "",
    )
  );
  const said = (column: string) => readableWords(column).filter((word) => unitOf(word) === null).join(" ");
  const up = table.foreignKeys.find(({ toTable }) => toTable !== table.name);
  return [
    kind && !isKey(table, kind) ? `number of ${name} per ${said(kind.name)}` : null,
    number ? `average ${said(number.name)} of ${name}` : null,
    dayOf(table)
      ? `how many ${name} this month`
      : up
      ? `how many ${name} per ${readableWords(up.toTable).join(" ")}`
      : null,
    `how many ${name} are there`,
  ].filter((one) => one !== null);
}
