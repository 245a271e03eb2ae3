// Reads numbers that a column has to equal: "the 3rd floor", "grade level 10", "order 5", "a negative balance".
import { affinityOf } from "../../../sql/words/sql_value.ts";
import { singular } from "../../singular.ts";
import { type ColumnRef, isNumber } from "./column_kinds.ts";
import { ordinals } from "./lexicon.ts";
import type { Mention } from "./link_names.ts";
import { quantityAt } from "./quantities.ts";
import type { Reading } from "./reading.ts";
import { inUnitOf } from "./units.ts";

/** Adds the conditions. */
export function readEquals(reading: Reading): void {
  readOrdinal(reading);
  readSign(reading);
  readNumber(reading);
  readKey(reading);
}

/** "a negative balance" */
function readSign(reading: Reading): void {
  for (const mention of reading.openMentions()) {
    const sign = /^(negative|positive)$/.exec(reading.open(mention.at - 1))?.[1];
    const ref = sign && reading.column(mention, ({ table, column }) => isNumber(table, column));
    if (!ref) continue;
    reading.take(mention.at - 1, mention.at);
    reading.spend(mention);
    reading.conditions.push({ kind: "compare", ref, operator: sign === "negative" ? "<" : ">", value: 0 });
  }
}

/** "the 3rd floor", "after the 80th minute": a number of its own, not the rank of a row. */
function readOrdinal(reading: Reading): void {
  for (const mention of reading.openMentions()) {
    const at = mention.at - 1;
    const word = reading.open(at);
    const digits = /^(\d+)(st|nd|rd|th)$/.exec(word)?.[1];
    const rank = ordinals.get(word);
    const value = digits ? Number(digits) : word === "first" ? 1 : rank === undefined ? null : rank + 1;
    if (value === null || mention.table !== null || mention.weak || mention.score < 1) continue;
    const ref = reading.column(mention, ({ table, column }) => isNumber(table, column));
    if (ref === null) continue;
    const before = reading.open(at - 1) === "the" ? at - 2 : at - 1;
    const operator = { after: ">", above: ">", before: "<", below: "<" }[reading.open(before)];
    reading.take(operator === undefined ? at : before, mention.at);
    reading.spend(mention);
    reading.conditions.push({ kind: "compare", ref, operator: operator ?? "=", value });
  }
}

/** "grade level 10", "score of 90". */
function readNumber(reading: Reading): void {
  for (const mention of reading.openMentions()) {
    let at = mention.end;
    while (/^(is|of|equals|equal|to|=|number)$/.test(reading.open(at))) at++;
    const low = quantityAt(reading, at);
    const ref = low && !mention.table ? numberNamed(reading, mention) : null;
    const value = low && ref ? inUnitOf(ref.column, low.value, low.unit) : null;
    if (!low || !ref || value === null) continue;
    reading.spend(mention);
    reading.take(mention.at, low.end);
    reading.conditions.push({ kind: "compare", ref, operator: "=", value });
  }
}

/** "order 5", "appointment 8" is the one with that key. */
function readKey(reading: Reading): void {
  const { subject, subjectAt } = reading;
  const value = reading.used[subjectAt + 1] ? null : reading.tokens[subjectAt + 1]?.number ?? null;
  const [key, ...more] = subject?.columns.filter(({ pk }) => pk > 0) ?? [];
  const noun = reading.word(subjectAt);
  if (
    subject === null || subjectAt < 0 || value === null || !key || more.length > 0 || singular(noun) !== noun
  ) return;
  if (!Number.isInteger(value) || affinityOf(key.type) !== "INTEGER") return;
  reading.take(subjectAt + 1, subjectAt + 2);
  reading.conditions.push({ kind: "compare", ref: { table: subject, column: key }, operator: "=", value });
}

function numberNamed(reading: Reading, mention: Mention): ColumnRef | null {
  return reading.column(mention, ({ table, column }) => isNumber(table, column) || column.pk > 0);
}
