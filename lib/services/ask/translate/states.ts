// What state a word says a row is in: "shipped" by a date that may be empty, "damaged" by a yes or no, and whatever a
// column's description says of an empty value, of 1 and of 0.
import { splitWords } from "../../schema/search_words.ts";
import { formsOf, isAlike } from "./likeness.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { MAX_DESCRIPTION } from "./described_words.ts";
import { affinityOf } from "../../../sql/words/sql_value.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import { singular } from "../../singular.ts";
import { type ColumnRef, isDate, isFlag, isKey, isNumber } from "./column_kinds.ts";
import { unitOfColumn } from "./units.ts";

/** What holds for a column's value in a row of that state. */
export type StateTest = "set" | "empty" | "yes" | "no";

/** A state and the words that say it, each in its forms. */
export interface State {
  readonly ref: ColumnRef;
  readonly test: StateTest;
  readonly words: readonly (readonly string[])[];
}

/** Whether a word is one of a state's; `=` stands before those that have no other form: "opened" is not "open". */
export function isStateWord(forms: readonly string[], word: readonly string[]): boolean {
  return word[0]?.startsWith("=") ? `=${forms[0]}` === word[0] : isAlike(forms, word);
}

const opposite: Readonly<Record<StateTest, StateTest>> = { set: "empty", empty: "set", yes: "no", no: "yes" };
const nameless =
  /^(at|on|date|day|time|until|since|by|is|was|has|can|datetime|timestamp|utc|moment|id|of|for|to|with|from|first|last|the|a|an)$/;
const small =
  /^(a|an|the|it|its|is|are|was|were|be|been|being|has|have|had|still|yet|there|they|he|she|of|for|to|up|in|on|at|that|this|what|who|which|and|or|so|already|as|one|when|while|until|by|from|with|somebody|someone|any|does|did|do|until|then|otherwise|if|before|after)$/;
/** What is expected has not happened because it has a date. */
const planned = /^(expected|planned|scheduled|due|target|estimated|valid|next|start|starts|birth|deadline)$/;
const past =
  /(ed|en|wn|ght)$|^(paid|sold|sent|left|gone|done|won|lost|built|kept|held|made|read|cut|met|begun|spent|born|run|set|put|out|off|over|begun|sung|shut|quit|lent)$/;
/** Words that say that what would have ended a thing has not. */
const ends: readonly (readonly [word: string, columns: RegExp])[] = [
  ["active", /^(cancel|retire|left|leave|end|ended|terminat|deactivat|clos|expire|archive|disable|ban|quit)/],
  ["current", /^(cancel|retire|left|leave|end|ended|terminat|expire|quit)/],
  ["open", /^(clos|resolv|complet|finish|settle)/],
  ["outstanding", /^(paid|pay|return|resolv|settle)/],
];

/** The opposite state of the same column: of one that is set, the one that is not. */
export function turned({ ref, test, words }: State): State {
  return { ref, words, test: opposite[test] };
}

/** The states that the columns of a table know. */
export function statesOf(table: AskTable): State[] {
  const states: State[] = [];
  for (const column of table.columns) {
    const ref = { table, column };
    const named = splitWords(column.name).filter((word) => !nameless.test(word));
    const says = said(table, ref);
    const yesNo = isFlag(column) || says.some(({ test }) => test === "yes") || isLikelyFlag(table, column);
    const optional = isDate(column) && !column.notNull && !isKey(table, column) &&
      !named.some((word) => planned.test(word));
    const happened = optional && named.some((word) => past.test(word));
    if ((yesNo || happened) && named.length > 0) {
      const words = named.map(formsOf);
      states.push({ ref, words, test: yesNo ? "yes" : "set" });
    }
    for (const state of says) states.push(state);
    if (!optional) continue;
    for (const [word, columns] of ends) {
      if (named.some((one) => columns.test(one))) {
        states.push({ ref, words: [[`=${word}`]], test: "empty" });
      }
    }
  }
  return states;
}

/** Such numbers are none until something is counted: not a state, though they begin with 0. */
const counted =
  /^(stock|count|total|quantity|qty|amount|price|cost|fee|balance|score|level|rank|rating|points?|attempts?|views|visits|likes|number|size|position|priority|order|sort|version|minutes?|hours?|days?|age|rate|discount|tax)$/;

/** A whole number that is 0 unless told otherwise, named by one thing: "sea_view", "on_loan". What is not 0 has it. */
function isLikelyFlag(table: AskTable, column: ColumnFacts): boolean {
  const words = splitWords(column.name);
  const last = words.at(-1) ?? "";
  return column.notNull && /^[01]$/.test(column.default ?? "") && affinityOf(column.type) === "INTEGER" &&
    isNumber(table, column) && unitOfColumn(column) === null && !words.some((word) => counted.test(word)) &&
    singular(last) === last;
}

const clauses: readonly (readonly [pattern: RegExp, test: StateTest, not: StateTest])[] = [
  [/\b(?:empty|null|unset|missing) (?:while|when|as long as|if) ([^;,.()]+)/gi, "empty", "set"],
  [/\b(?:empty|null|unset|missing) (?:until|before) ([^;,.()]+)/gi, "set", "empty"],
  [/\b(?:1|true|yes) (?:when|while|if|for|=|means) ([^;,.()]+)/gi, "yes", "no"],
  [/\b(?:0|false|no) (?:when|while|if|for|=|means) ([^;,.()]+)/gi, "no", "yes"],
];

/** The states that a description tells: "empty while the book is out", "1 when excused, 0 when unexcused". */
function said(table: AskTable, ref: ColumnRef): State[] {
  const own = splitWords(table.name).flatMap(formsOf);
  return clauses.flatMap(([pattern, test, not]) =>
    [...ref.column.description.slice(0, MAX_DESCRIPTION).matchAll(pattern)].flatMap(
      ([, clause = ""]): State[] => {
        const all = splitWords(clause);
        const words = all.filter((word) => !small.test(word) && !/^(not|no|never)$/.test(word)).map(formsOf)
          .filter((forms) => !forms.some((form) => own.includes(form)));
        // A preposition that is all there is ("out", "up") is what people say.
        const short = words.length === 0
          ? all.filter((word) => /^(out|in|up|off|on|away)$/.test(word)).map(formsOf)
          : words;
        if (short.length === 0 || short.length > 3) return [];
        return [{ ref, words: short, test: /\b(not|no|never)\b/i.test(clause) ? not : test }];
      },
    )
  );
}
