// Reads comparisons with numbers: "under $9", "heavier than 500 g", "between 5 and 15 euros", "more than two comments".
import { splitWords } from "../../schema/search_words.ts";
import { formsOf } from "./likeness.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, isBirth, isDate, isNumber } from "./column_kinds.ts";
import { harmless } from "./lexicon.ts";
import type { Reading } from "./reading.ts";
import { readEquals } from "./read_equals.ts";
import { scaleColumn } from "./scale_column.ts";
import { comparatives, comparisons, gradable, measuringVerbs, type Scale, trailing } from "./scales.ts";
import { type Quantity, quantityAt, takeRate } from "./quantities.ts";
import { inUnitOf, type Unit, unitOf, unitOfColumn, unitWord } from "./units.ts";

/** A comparison with the number of rows of a table: "more than two orders". */
export interface CountBound {
  readonly table: AskTable;
  readonly operator: string;
  readonly value: number;
}

interface Comparison {
  readonly at: number;
  readonly end: number;
  readonly operator: string;
  readonly low: Quantity;
  /** Set for "between". */
  readonly high: Quantity | null;
  readonly about: Scale | null;
}

/** What alone names an amount of money that is not qualified any further. */
const plainMoney = /^(price|amount|total|value|cost|costs|fee|rate)$/;
/** Says for how long that amount is. */
const period = /^(per|hour|hourly|day|daily|night|nightly|week|weekly|month|monthly|year|yearly|annual)$/;

/** Adds conditions, and answers the bound of a count if there is one. */
export function readAmounts(reading: Reading): CountBound | null {
  let bound: CountBound | null = null;
  for (let at = 0; at < reading.tokens.length; at++) {
    if (reading.used[at]) continue;
    const found = comparisonAt(reading, at);
    if (found) bound = countBound(reading, found) ?? (compare(reading, found), bound);
  }
  readEquals(reading);
  return bound;
}

function comparisonAt(reading: Reading, at: number): Comparison | null {
  if (reading.open(at) === "between") return betweenAt(reading, at);
  const grade = comparatives.get(reading.open(at));
  if (grade && reading.word(at + 1) === "than") {
    const low = quantityAt(reading, at + 2);
    const more = grade.about.date === "birth" ? !grade.more : grade.more;
    return low && { at, end: low.end, operator: more ? ">" : "<", low, high: null, about: grade.about };
  }
  const adjective = /^(more|less)$/.test(reading.open(at)) ? gradable.get(reading.open(at + 1)) : undefined;
  if (adjective && reading.word(at + 2) === "than") {
    const low = quantityAt(reading, at + 3);
    return low &&
      {
        at,
        end: low.end,
        operator: reading.word(at) === "more" ? ">" : "<",
        low,
        high: null,
        about: adjective,
      };
  }
  for (const [phrase, operator] of comparisons) {
    const length = reading.phrase(at, phrase);
    const low = length > 0 ? quantityAt(reading, at + length) : null;
    if (low) return { at, end: low.end, operator, low, high: null, about: null };
  }
  const low = quantityAt(reading, at);
  const owned = /^(with|has|have|having|exactly)$/.test(reading.word(at - 1)) && low &&
    reading.next(low.end)?.at === low.end;
  if (owned && low) return { at, end: low.end, operator: "=", low, high: null, about: null };
  const behind = low && trailing.find(([phrase]) => reading.phrase(low.end, phrase) > 0);
  if (!low || !behind) return null;
  return {
    at,
    end: low.end + reading.phrase(low.end, behind[0]),
    operator: behind[1],
    low,
    high: null,
    about: null,
  };
}

function betweenAt(reading: Reading, at: number): Comparison | null {
  const low = quantityAt(reading, at + 1);
  const high = low && reading.open(low.end) === "and" ? quantityAt(reading, low.end + 1) : null;
  if (!low || !high) return null;
  const unit = low.unit ?? high.unit;
  return {
    at,
    end: high.end,
    operator: "between",
    low: { ...low, unit },
    high: { ...high, unit },
    about: null,
  };
}

function countBound(reading: Reading, { at, end, operator, low, high }: Comparison): CountBound | null {
  const after = reading.next(end);
  if (low.unit || high || !after?.table || after.at !== end || after.table === reading.subject) return null;
  if (after.columns.length > 0 && after.table !== reading.subject && after.weak) return null;
  reading.take(at, end);
  reading.spend(after);
  return { operator, table: after.table, value: low.value };
}

function compare(reading: Reading, found: Comparison): void {
  const ref = comparedColumn(reading, found);
  if (ref === null) return;
  const { at, end, operator, low, high } = found;
  if (isBirth(ref.column)) return readAge(reading, ref, found);
  if (isDate(ref.column)) return;
  const value = inUnitOf(ref.column, low.value, low.unit);
  const upper = high && inUnitOf(ref.column, high.value, high.unit);
  if (value === null || (high && upper === null)) {
    const unit = unitWord(ref.column);
    const reason = `the unit of "${reading.said(at, end)}" does not fit; say the number `;
    if (unit === null) reading.refuse(`${reason}without a unit`);
    else reading.refuse(`${reason}with the right unit`, `, such as "${unit}"`);
    return;
  }
  reading.take(at, end);
  if (measuringVerbs.has(reading.open(at - 1))) reading.take(at - 1, at);
  takeRate(reading, end, ref);
  if (high && upper !== null) reading.conditions.push({ kind: "between", ref, low: value, high: upper });
  else reading.conditions.push({ kind: "compare", ref, operator, value });
}

/** "older than 30" compares a birthday so many years ago. */
function readAge(reading: Reading, ref: ColumnRef, { at, end, operator, low }: Comparison): void {
  if (low.unit && (low.unit.dimension !== "months" || low.unit.factor !== 12)) return;
  const today = new Date(reading.nowMs);
  const date = Date.UTC(today.getUTCFullYear() - low.value, today.getUTCMonth(), today.getUTCDate());
  if (low.value > 1000 || Number.isNaN(date)) return;
  const limit = new Date(date).toISOString().slice(0, 10);
  reading.take(at, end + (reading.open(end) === "old" ? 1 : 0));
  const older = operator.startsWith(">");
  reading.conditions.push({ kind: "days", ref, from: older ? null : limit, before: older ? limit : null });
}

/** The column named beside the number, else what the adjective or the verb means, else what has such a unit. */
function comparedColumn(reading: Reading, { at, end, low, about }: Comparison): ColumnRef | null {
  const fits = ({ table, column }: ColumnRef) => isNumber(table, column);
  const behind = reading.next(end);
  const after = behind && behind.at - end <= 1 && !behind.table ? behind : null;
  const before = reading.before(at, 3, (one) => one.columns.some(fits) && isBetween(reading, one.end, at));
  for (const mention of [after, before]) {
    const ref = mention && reading.column(mention, fits);
    if (!mention || !ref) continue;
    reading.spend(mention);
    return ref;
  }
  const { subject } = reading;
  if (subject === null) return null;
  const verb = [at - 1, at - 2].find((index) => measuringVerbs.has(reading.open(index)));
  const said = about ?? (verb === undefined ? null : measuringVerbs.get(reading.word(verb)) ?? null);
  const meant = said && scaleColumn(reading, said, subject);
  if (meant && verb !== undefined) reading.take(verb, verb + 1);
  return meant ??
    (said === null || said.names.length === 0 ? columnInUnit(reading, low.unit, subject) : null);
}

function isBetween(reading: Reading, from: number, to: number): boolean {
  return reading.tokens.slice(from, to).every(({ lower }, step) =>
    harmless.has(lower) || reading.used[from + step] === true
  );
}

/** "over 700 km" of what is measured so; of money, and without a unit, only what is plainly a price or an amount. */
function columnInUnit(reading: Reading, unit: Unit | null, table: AskTable): ColumnRef | null {
  const fits = table.columns.filter((column) => {
    if (!isNumber(table, column)) return false;
    if (unit && unit.dimension !== "money") return unitOfColumn(column)?.dimension === unit.dimension;
    const words = splitWords(column.name).filter((word) => unitOf(word) === null);
    const own = splitWords(table.name).flatMap(formsOf);
    const plain = (word: string) =>
      plainMoney.test(word) || period.test(word) || formsOf(word).some((form) => own.includes(form));
    return words.every(plain) && words.some((word) => plainMoney.test(word));
  });
  const main = fits.filter(({ name }) => !splitWords(name).some((word) => /^(fee|rate)$/.test(word)));
  return reading.choose((main.length > 0 ? main : fits).map((column) => ({ table, column })), (ref) => ref);
}
