// Finds the rows that a question is about: "which loans", "who", "titles by …".
import { splitWords } from "../../schema/search_words.ts";
import { formsOf } from "./likeness.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { isBirth } from "./column_kinds.ts";
import { ownKey } from "./own_references.ts";
import type { Mention } from "./link_names.ts";
import { ordinals } from "./lexicon.ts";
import { superlatives } from "./scales.ts";
import type { Reading } from "./reading.ts";

const people =
  /^(person|people|user|customer|client|member|patient|doctor|author|writer|driver|employee|staff|student|pupil|teacher|trainer|attendee|guest|contact|player|artist|worker|owner|tenant|subscriber|citizen|candidate|applicant|agent|buyer|seller|vendor|manager|nurse|vet|veterinarian|resident|passenger|pilot|volunteer|donor|speaker|coach|instructor|referee|lawyer|tester|developer|borrower|renter|reviewer|sender|recipient|participant|visitor|technician|supervisor|child|parent|singer|actor|director)$/;
/** A noun behind these is what is grouped by, counted or missing, not what is asked for. */
const otherwise = /^(per|by|each|every|without|no|never|nobody|not|most|fewest|than|any|with)$/;
const determiner = /^(a|an|the|our|my|all|their|of|any|single|been)$/;

/** Sets the subject and spends its mention, or leaves it open. */
export function readSubject(reading: Reading): void {
  const found = nouns(reading);
  const asked = found.find((one) => /^(which|what)$/.test(reading.word(beforeNoun(reading, one)))) ??
    found.find((one) => !otherwise.test(reading.word(beforeNoun(reading, one))) && !isBound(reading, one));
  const first = reading.word(0);
  if (first === "who" || first === "whose" || peopleAt(reading) >= 0) {
    return readPeople(reading, asked ?? null);
  }
  if (asked?.table) takeNoun(reading, asked, asked.table);
}

function takeNoun(reading: Reading, noun: Mention, table: AskTable): void {
  reading.subject = table;
  reading.subjectAt = noun.at;
  reading.spend(noun);
}

/** "what's our most expensive pastry": what a value belongs to, where nothing else is named. */
export function readSubjectOfValue(reading: Reading): void {
  const mention = reading.openMentions().find(({ values, states }) => values.length + states.length > 0);
  const refs = [...mention?.values ?? [], ...mention?.states ?? []].map(({ ref }) => ref);
  const tables = new Set(refs.map(({ table }) => table));
  const [only, ...more] = tables;
  if (!only || more.length > 0) return;
  reading.subject = only;
  reading.subjectOfValue = true;
}

function nouns(reading: Reading): Mention[] {
  return reading.openMentions().filter(({ table, weak, score }) => table !== null && !weak && score >= 0.8);
}

function beforeNoun(reading: Reading, { at }: Mention): number {
  let before = at - 1;
  while (before >= 0 && determiner.test(reading.word(before)) && !/^(per|each)$/.test(reading.word(before))) {
    before--;
  }
  return before;
}

/** "more than two comments" */
function isBound(reading: Reading, { at }: Mention): boolean {
  return reading.tokens[at - 1]?.number !== null &&
    /^(than|least|most|exactly|over|under)$/.test(reading.word(at - 2));
}

function peopleAt(reading: Reading): number {
  return reading.tokens.findIndex(({ lower }, at) =>
    /^(people|persons?)$/.test(lower) && !reading.mentions.some((one) => one.at <= at && one.end > at)
  );
}

/** "Who are our doctors", or "who has …": whoever the words that follow are about. */
function readPeople(reading: Reading, noun: Mention | null): void {
  const opening = reading.tokens.slice(1, noun?.at ?? 0).map(({ lower }) => lower);
  const ranks = (word: string) =>
    /^(is|are|were|was|our|the|all|my|most|least)$/.test(word) || superlatives.has(word) ||
    ordinals.has(word);
  if (noun?.table && opening.length > 0 && opening.every(ranks)) {
    takeNoun(reading, noun, noun.table);
    return;
  }
  const table = whoever(reading);
  if (table === null) {
    reading.refuse("it is not clear who is asked for; name the table");
    return;
  }
  reading.subject = table;
  const at = peopleAt(reading);
  if (at >= 0) reading.take(at, at + 1);
}

function whoever(reading: Reading): AskTable | null {
  const verbs = reading.openMentions().flatMap(({ table, weak }) =>
    table && weak ? [{ table, column: null }] : []
  );
  const telling = [
    reading.openMentions().flatMap((one) => ownKey(one)?.of ?? []).map((table) => ({ table, column: null })),
    reading.openMentions().flatMap(({ states }) => states.map(({ ref }) => ref)),
    reading.openMentions().flatMap(({ columns }) => columns),
    verbs,
    reading.openMentions().flatMap(({ values }) => values.map(({ ref }) => ref)),
    reading.openMentions().flatMap(({ table }) => table ? [{ table, column: null }] : []),
  ];
  for (const refs of telling) {
    const own = new Set(refs.map(({ table }) => table).filter((one) => isPerson(one) || refs === telling[0]));
    const parents = refs.map((ref) => ({ ref, parents: personsOf(reading, ref.table) }));
    // "who viewed" is told by the viewings alone.
    if (
      refs === verbs && refs.length > 0 && own.size === 0 && parents.every((one) => one.parents.length === 0)
    ) {
      return whoIsNamed(reading, refs.map(({ table }) => table));
    }
    const [only, ...more] = own.size > 0 ? own : new Set(parents.flatMap((one) => one.parents));
    if (only === undefined) continue;
    if (more.length === 0) return only;
    // Several kinds of people belong to it: a description may say which of them is meant.
    const said = new Set(
      parents.flatMap(({ ref, parents }) => {
        const words = splitWords(ref.column?.description ?? "").flatMap(formsOf);
        return parents.filter(({ name }) =>
          splitWords(name).flatMap(formsOf).some((word) => words.includes(word))
        );
      }),
    );
    const [described, ...others] = said;
    return others.length === 0 ? described ?? null : null;
  }
  return null;
}

/** The only column of a table with the name of a person: `buyer_name`. It is what is asked for. */
function whoIsNamed(reading: Reading, tables: readonly AskTable[]): AskTable | null {
  const found = tables.flatMap((table) =>
    table.columns.filter(({ name }) => {
      const words = splitWords(name);
      return /^(name|nm|by)$/.test(words.at(-1) ?? "") &&
        words.some((word) => formsOf(word).some((form) => people.test(form)));
    }).map((column) => ({ table, column }))
  );
  const [only, ...more] = found;
  if (!only || more.length > 0) return null;
  reading.asked = only;
  return only.table;
}

function personsOf(reading: Reading, table: AskTable): AskTable[] {
  return reading.schema.tables.filter((one) =>
    isPerson(one) && table.foreignKeys.some(({ toTable }) => toTable === one.name)
  );
}

/** Whether the rows of a table are people, by its name and by what is stored of them. */
function isPerson(table: AskTable): boolean {
  const own = splitWords(table.name).at(-1) ?? "";
  return formsOf(own).some((word) => people.test(word)) ||
    table.columns.some((column) =>
      isBirth(column) || /first_?name|last_?name|surname|e_?mail/i.test(column.name)
    );
}
