// Reads everything that narrows rows: comparisons with numbers, dates, yes-or-no columns, and what is missing.
import type { AskTable } from "../model/ask_schema.ts";
import { dayOf, isBirth, isDate, isFlag, isNumber, isYear, measureOf } from "./column_kinds.ts";
import type { DateSpan } from "./find_dates.ts";
import { comparisons, synonyms } from "./lexicon.ts";
import type { ColumnRef } from "./link_names.ts";
import type { Reading } from "./reading.ts";

/** A comparison with the number of rows of a table: "more than two orders". */
export interface CountBound {
  readonly table: AskTable;
  readonly operator: string;
  readonly value: number;
}

const numeric = ({ table, column }: ColumnRef) => isNumber(table, column);

/** Adds conditions, and answers the bound of a count if there is one. The tokens of `dates` are used already. */
export function readNumbers(
  reading: Reading,
  dates: readonly DateSpan[],
  main: AskTable | null,
): CountBound | null {
  readAbsence(reading);
  readFlags(reading);
  readStock(reading);
  for (const span of dates) readDays(reading, span, main);
  let bound: CountBound | null = null;
  for (let at = 0; at < reading.tokens.length; at++) {
    bound = readAge(reading, at) ?? readBetween(reading, at, main) ?? readComparison(reading, at, main) ??
      bound;
  }
  readEquals(reading);
  return bound;
}

function readComparison(reading: Reading, at: number, main: AskTable | null): CountBound | null {
  for (const [phrase, operator] of comparisons) {
    const length = reading.phrase(at, phrase);
    const value = reading.tokens[at + length]?.number ?? null;
    if (length === 0 || value === null) continue;
    const end = at + length + 1;
    const after = reading.mentionFrom(end);
    if (after?.table && after.at - end <= 1) {
      reading.take(at, end);
      reading.spend(after);
      return { table: after.table, operator, value };
    }
    const ref = comparedColumn(reading, at, end, main);
    if (ref === null) return null;
    reading.take(at, end);
    for (const one of reading.open()) if (one.at >= at && one.end <= end) reading.spend(one);
    reading.conditions.push({ kind: "compare", ref, operator, value });
    return null;
  }
  return null;
}

function readBetween(reading: Reading, at: number, main: AskTable | null): null {
  const low = reading.tokens[at + 1]?.number ?? null;
  const high = reading.tokens[at + 3]?.number ?? null;
  if (!/^(between|from)$/.test(reading.word(at)) || reading.used[at] || low === null || high === null) {
    return null;
  }
  if (!/^(and|to)$/.test(reading.word(at + 2))) return null;
  const ref = comparedColumn(reading, at, at + 4, main);
  if (ref === null) return null;
  reading.take(at, at + 4);
  reading.conditions.push({ kind: "between", ref, low, high });
  return null;
}

/**
 * The column to compare: the one that a word such as "longer" means, else the one named beside the number, else what
 * the table measures.
 */
function comparedColumn(reading: Reading, at: number, end: number, main: AskTable | null): ColumnRef | null {
  const said = /^(longer|shorter)$/.test(reading.word(at))
    ? synonyms.get("long")
    : reading.word(at) === "cheaper"
    ? ["price", "cost"]
    : undefined;
  const meant = said && reading.columnNamed(said, isNumber);
  if (meant) return meant;
  const before = reading.mentionBefore(at, (one) => one.columns.some(numeric), 4);
  const after = reading.mentions.find((one) =>
    one.at >= end && one.at - end <= 1 && one.columns.some(numeric)
  );
  for (const mention of [before, after]) {
    if (!mention) continue;
    const ref = reading.columnOf(mention, numeric);
    reading.spend(mention);
    if (ref) return ref;
  }
  return main && measureOf(main);
}

/** "grade level 10", "score of 90". */
function readEquals(reading: Reading): void {
  for (const mention of reading.open()) {
    let at = mention.end;
    while (/^(is|of|equals|equal|to|=|number)$/.test(reading.word(at))) at++;
    const value = reading.tokens[at]?.number ?? null;
    const ref = reading.columnOf(mention, ({ table, column }) => isNumber(table, column) || column.pk > 0);
    if (value === null || reading.used[at] || ref === null || mention.table !== null) continue;
    reading.spend(mention);
    reading.take(mention.at, at + 1);
    reading.conditions.push({ kind: "compare", ref, operator: "=", value });
  }
}

/** "older than 30" compares an age, or a birthday so many years ago. */
function readAge(reading: Reading, at: number): null {
  const older = reading.phrase(at, "older than") > 0;
  const value = reading.tokens[at + 2]?.number ?? null;
  if ((!older && reading.phrase(at, "younger than") === 0) || value === null || value > 1000) return null;
  const age = reading.columnNamed(
    ["age"],
    (table, column) => column.name.toLowerCase() === "age" && isNumber(table, column),
  );
  const birth = reading.columnNamed([""], (_table, column) => isBirth(column));
  if (age) reading.conditions.push({ kind: "compare", ref: age, operator: older ? ">" : "<", value });
  else if (birth) {
    const today = new Date(reading.nowMs);
    const day = new Date(Date.UTC(today.getUTCFullYear() - value, today.getUTCMonth(), today.getUTCDate()));
    const limit = day.toISOString().slice(0, 10);
    reading.conditions.push({
      kind: "days",
      ref: birth,
      from: older ? null : limit,
      before: older ? limit : null,
    });
  } else return null;
  reading.take(at, at + 3);
  if (/^years?$/.test(reading.word(at + 3))) reading.take(at + 3, at + 4);
  return null;
}

function readDays(reading: Reading, { at, end, from, before }: DateSpan, main: AskTable | null): void {
  const dated = (ref: ColumnRef) => isDate(ref.column);
  const near = reading.mentionBefore(at, (one) => one.columns.some(dated) && !reading.spent.has(one)) ??
    reading.mentions.find((one) => one.at >= end && one.columns.some(dated) && !reading.spent.has(one));
  let ref = near ? reading.columnOf(near, dated) : null;
  if (near && ref) reading.spend(near);
  for (const table of [main, ...reading.context, ...reading.mentions.map((one) => one.table)]) {
    ref ??= table && dayOf(table);
  }
  const year = ref ? null : yearColumn(reading, main);
  const whole = [from, before].every((day) => day === null || day.endsWith("-01-01"));
  if (ref) reading.conditions.push({ kind: "days", ref, from, before });
  else if (year && whole) {
    for (const [operator, day] of [[">=", from], ["<", before]] as const) {
      const value = Number(day?.slice(0, 4));
      if (day !== null) reading.conditions.push({ kind: "compare", ref: year, operator, value });
    }
  } else reading.used.fill(false, at, end);
}

function yearColumn(reading: Reading, main: AskTable | null): ColumnRef | null {
  const named = reading.open().find((one) => one.columns.some(({ column }) => isYear(column)));
  if (named) {
    reading.spend(named);
    return reading.columnOf(named, ({ column }) => isYear(column));
  }
  const column = main?.columns.find(isYear);
  return main && column ? { table: main, column } : null;
}

/** "unpaid invoices", "not discontinued", "paid". */
function readFlags(reading: Reading): void {
  for (const mention of reading.open()) {
    const ref = reading.columnOf(mention, ({ column }) => isFlag(column));
    if (ref === null || mention.table !== null) continue;
    const negated = reading.tokens[mention.at]?.lower !== reading.tokens[mention.at]?.text.toLowerCase();
    let at = mention.at - 1;
    while (/^(been|be|yet|being|is|are)$/.test(reading.word(at))) at--;
    const not = /^(not|non|never|aren't|isn't|weren't|wasn't|haven't|hasn't)$/.test(reading.word(at));
    if (not) reading.take(at, at + 1);
    reading.spend(mention);
    reading.context.add(ref.table);
    reading.conditions.push({ kind: "compare", ref, operator: "=", value: negated !== not ? 0 : 1 });
  }
}

/** "out of stock" and "in stock". */
function readStock(reading: Reading): void {
  for (const mention of reading.open()) {
    const ref = reading.columnOf(mention, numeric);
    if (ref === null || mention.end - mention.at > 1) continue;
    const out = reading.phrase(mention.at - 2, "out of") > 0;
    const inside = reading.word(mention.at - 1) === "in" &&
      /stock|inventory/.test(reading.word(mention.at)) &&
      !/^(how|units|many)$/.test(reading.word(mention.at - 2));
    if (!out && !inside) continue;
    reading.take(mention.at - (out ? 2 : 1), mention.at);
    reading.spend(mention);
    reading.conditions.push({ kind: "compare", ref, operator: out ? "=" : ">", value: 0 });
  }
}

/** "without an email", "have no insurance", "never ordered". */
function readAbsence(reading: Reading): void {
  for (const mention of reading.open()) {
    let at = mention.at - 1;
    while (/^(a|an|any|the|been|placed|made|had|yet|ever|have|having)$/.test(reading.word(at))) at--;
    if (
      !/^(without|no|never|missing|lacking|haven't|hasn't|not|don't|didn't|doesn't)$/.test(reading.word(at))
    ) continue;
    if (reading.used[at]) continue;
    const of = reading.mentionBefore(at, (one) => one.table !== null && one.table !== mention.table)?.table;
    const ref = reading.columnOf(mention, ({ column }) => !isFlag(column));
    const hard = /^(without|no|missing|lacking|don't|doesn't|never|haven't|hasn't|not|didn't)$/.test(
      reading.word(at),
    );
    if (mention.table && of) reading.conditions.push({ kind: "nothing", of, table: mention.table });
    else if (ref && hard) reading.conditions.push({ kind: "null", ref, not: false });
    else continue;
    reading.take(at, mention.at);
    if (mention.table) {
      reading.spent.add(mention);
      reading.take(mention.at, mention.end);
    } else reading.spend(mention);
  }
}
