// What a column can be used for in a question: a date, a number to add up, a name to show, a yes or no.
import { affinityOf } from "../../../sql/words/sql_value.ts";
import { splitWords } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { labelNames, sensitiveName } from "./lexicon.ts";
import { noted } from "./kept_schemas.ts";
import { formsOf, isAlike } from "./likeness.ts";

/** A column and its table. */
export interface ColumnRef {
  readonly table: AskTable;
  readonly column: ColumnFacts;
}

/** Columns that a row of the answer shows when the question names none. */
const MAX_SHOWN = 20;
const dateWords =
  /^(date|dt|time|datetime|timestamp|ts|at|on|day|when|created|updated|dob|birthday|birthdate|deadline|due|until|since)$/;

/** How descriptions of dates begin: "Day of arrival". */
const dayOfWhat = /^(the )?(day|date|moment) (of|on|by|until|when|from)\b(?! the week)/i;

/** Whether a column holds dates. */
export function isDate({ name, type, description }: ColumnFacts): boolean {
  if (/date|time/i.test(type)) return true;
  if (/REAL|FLOA|DOUB|BLOB|BOOL/i.test(type)) return false;
  if (dayOfWhat.test(description)) return true;
  const words = splitWords(name);
  if (words.length === 1 && /^(on|at)$/.test(words[0] ?? "")) return false;
  return words.some((word, at) =>
    dateWords.test(word) && (!/^(at|on)$/.test(word) || at === words.length - 1)
  ) &&
    !words.some((word) => /^(duration|min|minutes|count|zone|per)$/.test(word));
}

/** A year stored as a number. */
export function isYear({ name, type }: ColumnFacts): boolean {
  return affinityOf(type) === "INTEGER" && splitWords(name).some((word) => /^(year|yr)$/.test(word));
}

/** A date of birth is about a person, not about when something happened. */
export function isBirth({ name }: ColumnFacts): boolean {
  return splitWords(name).some((word) => /^(birth|dob|birthday|birthdate|born)$/.test(word));
}

/** Whether a column is a key or refers to one. */
export function isKey(table: AskTable, column: ColumnFacts): boolean {
  return column.pk > 0 || table.foreignKeys.some(({ columns }) => columns.includes(column.name)) ||
    /(^|_)id$|[a-z]Id$/.test(column.name);
}

/** A yes or no: a BOOLEAN column, or a whole number named `is_…`, `has_…` or with a past participle. */
export function isFlag({ name, type }: ColumnFacts): boolean {
  if (/BOOL/i.test(type)) return true;
  return affinityOf(type) === "INTEGER" &&
    (/^(is|has|was|can)_/.test(name) ||
      /^(paid|active|archived|open|closed|enabled|public|done|sold)$/.test(name) ||
      /[a-z](ed|able|ible)$/.test(name));
}

/** Whether a column holds numbers that can be compared and added up. */
export function isNumber(table: AskTable, column: ColumnFacts): boolean {
  if (isKey(table, column) || isDate(column) || isFlag(column)) return false;
  const affinity = affinityOf(column.type);
  return affinity === "INTEGER" || affinity === "REAL" || affinity === "NUMERIC";
}

/** The same of a column with its table. */
export function isNumeric({ table, column }: ColumnRef): boolean {
  return isNumber(table, column);
}

/**
 * The date on which a row of the table happened; null where there is none, or where several are as likely. "ordered_at" is it
 * for orders, and so is the only date that every row has.
 */
export const dayOf = noted((table: AskTable): ColumnRef | null => {
  const days = table.columns.filter((column) => isDate(column) && !isBirth(column));
  const own = splitWords(table.name).flatMap(formsOf);
  const tests: readonly ((column: ColumnFacts) => boolean)[] = [
    () => true,
    ({ name }) => splitWords(name).some((word) => isAlike(formsOf(word), own)),
    ({ notNull }) => notNull,
    ({ name }) => /^(date|day|datetime|timestamp|starts?(_(at|on|date|time))?)$/i.test(name),
  ];
  const found = tests.map((test) => days.filter(test)).find(({ length }) => length === 1);
  const [column] = found ?? [];
  return column ? { table, column } : null;
});

/** The first and the last day of what lasts several; null for a table without both. */
export const rangeOf = noted(
  (table: AskTable): { readonly first: ColumnRef; readonly last: ColumnRef } | null => {
    const named = (pattern: RegExp) =>
      table.columns.filter((column) =>
        isDate(column) && splitWords(column.name).some((word) => pattern.test(word))
      );
    const [first, ...others] = named(/^(starts?|from|begins?|begin|arrival|first)$/);
    const [last, ...more] = named(/^(ends?|to|until|through|departure|last)$/);
    if (!first || !last || others.length + more.length > 0 || first === last) return null;
    return { first: { table, column: first }, last: { table, column: last } };
  },
);

/** The columns that name a row: its name, its first and last name, its title. Empty where it has none. */
export function labelOf(table: AskTable): readonly ColumnFacts[] {
  const words = (column: ColumnFacts) => splitWords(column.name).join("");
  const first = table.columns.find((column) => /^(first|given)name$/.test(words(column)));
  const last = table.columns.find((column) => /^(last|family|sur)name$|^surname$/.test(words(column)));
  if (first && last) return [first, last];
  for (const name of labelNames) {
    const column = table.columns.find((one) => words(one) === name) ??
      table.columns.find((one) => splitWords(one.name).at(-1) === name && !isKey(table, one));
    if (column) return [column];
  }
  return [];
}

/** The columns that a list of rows shows: no secrets, no blobs. */
export function shownOf(table: AskTable): readonly ColumnFacts[] {
  return table.columns.filter(({ name, type }) => !sensitiveName.test(name) && !/BLOB/i.test(type)).slice(
    0,
    MAX_SHOWN,
  );
}
