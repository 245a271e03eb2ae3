// Reads what is counted, added up or averaged, and by what it is grouped.
import type { AskTable } from "../model/ask_schema.ts";
import { dayOf, isDate, isNumber, labelOf, measureOf } from "./column_kinds.ts";
import type { Aggregate, Measure, Term } from "./plan.ts";
import type { ColumnRef, Mention } from "./link_names.ts";
import type { Reading } from "./reading.ts";

/** By what the answer is grouped. */
export interface Grouping {
  readonly terms: readonly Term[];
  readonly table: AskTable | null;
}

const isNumeric = ({ table, column }: ColumnRef) => isNumber(table, column);

/** "revenue" is quantity times price, where a table has both and no column of that name. */
export function revenueAt(reading: Reading, at: number): Term | null {
  if (!/^(revenues?|turnover|sales|income|earnings)$/.test(reading.word(at)) || reading.used[at]) return null;
  if (reading.mentions.some((one) => one.at <= at && one.end > at)) return null;
  for (const table of reading.schema.tables) {
    const quantity = table.columns.find(({ name }) => /quantity|qty/i.test(name));
    if (quantity === undefined) continue;
    // The line's own price comes before the price of what it refers to.
    const near = reading.schema.tables.filter(({ name }) =>
      table.foreignKeys.some(({ toTable }) => toTable === name)
    );
    for (const other of [table, ...near]) {
      const price = other.columns.find((one) => /price/i.test(one.name) && isNumber(other, one));
      if (price) {
        return { kind: "product", ref: { table, column: quantity }, by: { table: other, column: price } };
      }
    }
  }
  return null;
}

/** "per category", "for each customer", "in each city", "by month". */
export function readGroups(reading: Reading, aggregated: boolean): Grouping | null {
  for (let at = 0; at < reading.tokens.length; at++) {
    if (reading.used[at]) continue;
    const word = reading.word(at);
    const sure = /^(per|each|every)$/.test(word);
    if (!sure && !(word === "by" && !/^(sorted|ordered|ranked|order|sort)$/.test(reading.word(at - 1)))) {
      continue;
    }
    const unit = /^(month|year|day)(ly)?$/.exec(reading.word(at + 1))?.[1];
    if (unit === "month" || unit === "year" || unit === "day") {
      const ref = dayInQuestion(reading);
      if (ref === null) continue;
      reading.take(at, at + 2);
      return { terms: [{ kind: unit, ref }], table: null };
    }
    const mention = reading.mentionFrom(at + 1);
    if (mention === null || (!sure && !aggregated && reading.mentions[0]?.at !== 0)) continue;
    const next = mention.table ? reading.mentionFrom(mention.end) : null;
    const column = next && next.at === mention.end && next.columns.some(({ table }) =>
        table === mention.table
      )
      ? next
      : null;
    reading.take(at, at + 1);
    reading.spend(mention);
    if (mention.table && !column) return groupOf(mention.table);
    if (column) reading.spend(column);
    const ref = reading.columnOf(column ?? mention);
    if (ref) {
      return {
        terms: [isDate(ref.column) ? { kind: "day", ref } : { kind: "column", ref }],
        table: null,
      };
    }
  }
  return null;
}

/** The rows of a table as groups, shown by their names. */
export function groupOf(table: AskTable): Grouping {
  const label = labelOf(table);
  const shown = label.length > 0 ? label : table.columns.filter(({ pk }) => pk > 0);
  return { terms: shown.map((column) => ({ kind: "column", ref: { table, column } })), table };
}

function dayInQuestion(reading: Reading): ColumnRef | null {
  const named = reading.open().find((one) => one.columns.some(({ column }) => isDate(column)));
  if (named) {
    const ref = reading.columnOf(named, ({ column }) => isDate(column));
    reading.spend(named);
    return ref;
  }
  for (const { table } of reading.mentions) {
    const day = table && dayOf(table);
    if (day) return day;
  }
  // The table that is added up may have no date while a neighbour has one.
  const days = reading.schema.tables.flatMap((table) => dayOf(table) ?? []);
  const product = reading.tokens.map((_, at) => revenueAt(reading, at)).find((term) => term !== null);
  if (product) reading.context.add(product.ref.table);
  return reading.nearest(
    days.filter(({ table }) =>
      !product || product.ref.table.foreignKeys.some(({ toTable }) => toTable === table.name)
    ),
  );
}

const aggregateWords: ReadonlyMap<string, Aggregate> = new Map([
  ["average", "avg"],
  ["avg", "avg"],
  ["mean", "avg"],
  ["total", "sum"],
  ["sum", "sum"],
]);

/** Words that begin a measure anywhere in the question. */
export function isAggregated(reading: Reading): boolean {
  return reading.tokens.some(({ lower }, at) =>
    aggregateWords.has(lower) || reading.phrase(at, "how many") > 0 || reading.phrase(at, "how much") > 0 ||
    /^(number|count|revenues?|turnover|sales|maximum|minimum|highest|lowest)$/.test(lower)
  );
}

/** The measure, or null where nothing is counted or added up. */
export function readMeasure(reading: Reading): Measure | null {
  for (let at = 0; at < reading.tokens.length; at++) {
    if (reading.used[at]) continue;
    const counting = reading.phrase(at, "how many") || reading.phrase(at, "total number of") ||
      reading.phrase(at, "number of") || reading.phrase(at, "count of") || reading.phrase(at, "count");
    const measure = counting > 0 ? readCount(reading, at, at + counting) : readSum(reading, at);
    if (measure) return measure;
  }
  return null;
}

function readCount(reading: Reading, at: number, end: number): Measure | null {
  const word = reading.word(end);
  const first = /^(times|units|pieces|copies)$/.test(word) ? null : firstOpen(reading, end);
  if (first === null) {
    if (/^(units|pieces|copies)$/.test(word)) {
      const ref = reading.columnNamed(["quantity", "qty"], isNumber) ??
        reading.columnNamed(["units", "stock"], isNumber);
      for (const one of reading.open()) if (one.at === end) reading.spend(one);
      if (ref) return taken(reading, at, end + 1, sumOf(ref));
    }
    const rows = word === "times" ? reading.open().find((one) => one.table) : undefined;
    if (!rows?.table) return null;
    reading.spend(rows);
    return taken(reading, at, end + 1, { kind: "rows", table: rows.table });
  }
  reading.spend(first);
  if (first.table) return taken(reading, at, end, { kind: "rows", table: first.table });
  const ref = reading.columnOf(first);
  if (ref === null) return null;
  const numeric = isNumeric(ref) && !/^(different|distinct|unique)$/.test(reading.word(first.at - 1));
  return taken(
    reading,
    at,
    end,
    numeric ? sumOf(ref) : {
      kind: "aggregate",
      aggregate: "count",
      distinct: true,
      term: { kind: "column", ref },
    },
  );
}

/** The next mention after values and adjectives. */
function firstOpen(reading: Reading, from: number): Mention | null {
  return reading.open().find((one) => one.at >= from && one.at - from <= 4) ?? null;
}

function readSum(reading: Reading, at: number): Measure | null {
  const much = reading.phrase(at, "how much");
  const aggregate = much > 0 ? "sum" : aggregateWords.get(reading.word(at));
  const alone = revenueAt(reading, at);
  if (alone) {
    return taken(reading, at, at + 1, { kind: "aggregate", aggregate: "sum", term: alone, distinct: false });
  }
  if (aggregate === undefined) return null;
  let from = at + Math.max(much, 1);
  while (
    /^(of|the|value|amount|sum)$/.test(reading.word(from)) && !reading.mentions.some((one) => one.at === from)
  ) from++;
  for (let step = from; step < from + 2; step++) {
    const term = revenueAt(reading, step);
    if (term) return taken(reading, at, step + 1, { kind: "aggregate", aggregate, term, distinct: false });
  }
  const near = reading.open().filter((one) => one.at >= from && (much > 0 || one.at - from <= 3));
  const named = near.find((one) => one.columns.some(isNumeric));
  const ref = named && reading.columnOf(named, isNumeric);
  if (named && ref) {
    reading.spend(named);
    return taken(reading, at, Math.max(from, at + 1), {
      kind: "aggregate",
      aggregate,
      term: column(ref),
      distinct: false,
    });
  }
  const owner = near.find((one) => one.table && measureOf(one.table));
  const measure = owner?.table && measureOf(owner.table);
  if (!owner || !measure) return null;
  reading.spend(owner);
  return taken(reading, at, from, { kind: "aggregate", aggregate, term: column(measure), distinct: false });
}

function taken(reading: Reading, at: number, end: number, measure: Measure): Measure {
  reading.take(at, end);
  return measure;
}

function sumOf(ref: ColumnRef): Measure {
  return { kind: "aggregate", aggregate: "sum", term: column(ref), distinct: false };
}

function column(ref: ColumnRef): Term {
  return { kind: "column", ref };
}
