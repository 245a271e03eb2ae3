// Reads what is counted, added up or averaged.
import { splitWords } from "../../schema/search_words.ts";
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import { type ColumnRef, isNumber, isNumeric } from "./column_kinds.ts";
import type { Mention } from "./link_names.ts";
import type { Aggregate, Measure, Term } from "./plan.ts";
import type { Reading } from "./reading.ts";
import { inUnitOf, unitOf, unitOfColumn } from "./units.ts";

const counting = ["how many", "what number of", "total number of", "number of", "count of", "count"];
const aggregateWords: ReadonlyMap<string, Aggregate> = new Map([
  ["average", "avg"],
  ["avg", "avg"],
  ["mean", "avg"],
  ["total", "sum"],
  ["sum", "sum"],
]);

/** The measure; null where nothing is counted or added up, or where what is meant stays open. */
export function readMeasure(reading: Reading): Measure | null {
  for (let at = 0; at < reading.tokens.length; at++) {
    if (reading.used[at]) continue;
    const count = counting.map((phrase) => reading.phrase(at, phrase)).find((length) => length > 0);
    const measure = count !== undefined
      ? readCount(reading, at, at + count)
      : readAggregate(reading, at) ?? readRevenue(reading, at);
    if (measure) return measure;
  }
  return null;
}

function readCount(reading: Reading, at: number, end: number): Measure | null {
  const inUnit = readAmountIn(reading, at, end) ?? readPieces(reading, at, end);
  if (inUnit) return inUnit;
  const distinct = /^(different|distinct|unique)$/.test(reading.open(end)) ? 1 : 0;
  if (distinct) {
    const named = reading.next(end + 1);
    const ref = named && !named.table ? reading.column(named) : null;
    return named && ref ? countDistinct(reading, named, { at, end: end + 1, ref }) : null;
  }
  const next = reading.openMentions().find((one) => one.at >= end);
  const numeric = next && next.at === end && !next.table && (next.score >= 0.8 || next.weak)
    ? reading.column(next, isNumeric)
    : null;
  if (next && numeric) return taken(reading, { at, end }, sumOf(reading, next, numeric));
  // "how many croissants have we sold": the value says of what, the column how many.
  if (reading.subject === null && next && next.values.length > 0) {
    const sold = reading.openMentions().find((one) => one.at > next.at && one.columns.some(isNumeric));
    const ref = sold && reading.column(sold, isNumeric);
    return sold && ref ? taken(reading, { at, end }, sumOf(reading, sold, ref)) : null;
  }
  if (reading.subject) return taken(reading, { at, end }, { kind: "rows", table: reading.subject });
  const column = next && next.at === end && next.score >= 0.8
    ? reading.column(next, (ref) => !isNumeric(ref))
    : null;
  return next && column ? countDistinct(reading, next, { at, end, ref: column }) : null;
}

function countDistinct(
  reading: Reading,
  mention: Mention,
  { at, end, ref }: { readonly at: number; readonly end: number; readonly ref: ColumnRef },
): Measure {
  reading.spend(mention);
  const term: Term = { kind: "column", ref };
  return taken(reading, { at, end }, {
    kind: "aggregate",
    aggregate: "count",
    distinct: true,
    term,
    into: null,
  });
}

/** A quantity that is added up is what was sold. */
function takeSold(reading: Reading): boolean {
  const sold = reading.tokens.findIndex((_, at) =>
    /^(sold|bought|ordered|purchased)$/.test(reading.open(at))
  );
  if (sold >= 0) reading.take(sold, sold + 1);
  return sold >= 0;
}

/** "how many units of Stapler have been sold": the sum of the only quantity that there is. */
function readPieces(reading: Reading, at: number, end: number): Measure | null {
  const named = reading.next(end);
  if (
    !/^(units|pieces|copies|items)$/.test(reading.open(end)) ||
    (named?.at === end && !named.weak && named.score >= 0.8)
  ) {
    return null;
  }
  const [ref, ...more] = reading.schema.tables.flatMap((table) =>
    table.columns.filter((column) => /^(quantity|qty)$/i.test(column.name) && isNumber(table, column)).map((
      column,
    ) => ({ table, column }))
  );
  if (!ref || more.length > 0 || !takeSold(reading)) return null;
  const term: Term = { kind: "column", ref };
  return taken(reading, { at, end: end + 1 }, {
    kind: "aggregate",
    aggregate: "sum",
    distinct: false,
    term,
    into: null,
  });
}

/** "how many hours was she absent": the sum of the column that is measured in such a unit. */
function readAmountIn(reading: Reading, at: number, end: number): Measure | null {
  const name = reading.word(end);
  const unit = unitOf(name);
  if (unit === null || reading.mentions.some((one) => one.at === end && one.table)) return null;
  const fits = (ref: ColumnRef) => isNumeric(ref) && unitOfColumn(ref.column)?.dimension === unit.dimension;
  const mention = reading.openMentions().find((one) => one.at > end && one.columns.some(fits));
  const ref = mention && reading.column(mention, fits);
  const divide = ref && inUnitOf(ref.column, 1, unit);
  if (!mention || !ref || !divide) return null;
  reading.spend(mention);
  const measure = sumOf(reading, mention, ref);
  return taken(
    reading,
    { at, end: end + 1 },
    { ...measure, into: { unit, name, divide } },
  );
}

function readAggregate(reading: Reading, at: number): Measure | null {
  const much = reading.phrase(at, "how much");
  const aggregate = much > 0 ? "sum" : aggregateWords.get(reading.open(at));
  if (aggregate === undefined) return null;
  let from = at + Math.max(much, 1);
  while (
    /^(of|the|value|amount|sum|combined|all)$/.test(reading.open(from)) && reading.next(from)?.at !== from
  ) from++;
  const revenue = readRevenue(reading, from);
  if (revenue) {
    return taken(reading, { at, end: from }, {
      ...revenue,
      aggregate,
    });
  }
  const mention = reading.next(from);
  const ref = mention && reading.column(mention, isNumeric);
  if (!mention || !ref) return null;
  return taken(reading, { at, end: from }, { ...sumOf(reading, mention, ref), aggregate });
}

/** "revenue" is what a description calls so, else quantity times price. */
function readRevenue(reading: Reading, at: number): Extract<Measure, { kind: "aggregate" }> | null {
  if (!/^(revenues?|turnover|sales|income|earnings)$/.test(reading.open(at))) return null;
  // "with a revenue over …" compares it.
  if (
    /^(over|above|under|below|between|more|less|at|up|of|is|was)$/.test(reading.word(at + 1)) &&
    reading.subjectAt >= 0 && reading.subjectAt < at
  ) return null;
  const named = reading.mentions.find((one) => one.at <= at && one.end > at);
  if (named) {
    const ref = reading.column(named, isNumeric);
    return ref ? sumOf(reading, named, ref) : null;
  }
  const term = revenueTerm(reading);
  if (term === null) return null;
  reading.take(at, at + 1);
  return { kind: "aggregate", aggregate: "sum", term, distinct: false, into: null };
}

/** The line's own price comes before the price of what it refers to. */
function revenueTerm({ schema }: Reading): Term | null {
  // What is written down as a total may be meant as well.
  const isTotal = (column: ColumnFacts) =>
    splitWords(column.name).some((word) => /^(total|amount|revenue|turnover|paid|payment)$/.test(word));
  if (schema.tables.some((table) => table.columns.some((one) => isTotal(one) && isNumber(table, one)))) {
    return null;
  }
  for (const table of schema.tables) {
    const quantity = table.columns.find(({ name }) => /quantity|qty/i.test(name));
    if (quantity === undefined) continue;
    const near = schema.tables.filter(({ name }) =>
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

/** The sum of a mentioned column, in the unit that stands behind it: "distance in km". */
function sumOf(reading: Reading, mention: Mention, ref: ColumnRef): Extract<Measure, { kind: "aggregate" }> {
  reading.spend(mention);
  if (/^(quantity|qty)$/i.test(ref.column.name)) takeSold(reading);
  const at = reading.tokens.findIndex((_, index) =>
    reading.open(index) === "in" && unitOf(reading.open(index + 1)) !== null
  );
  const name = reading.word(at + 1);
  const unit = at < 0 ? null : unitOf(name);
  const divide = unit && inUnitOf(ref.column, 1, unit);
  if (divide) reading.take(at, at + 2);
  const into = unit && divide ? { unit, name, divide } : null;
  return { kind: "aggregate", aggregate: "sum", term: { kind: "column", ref }, distinct: false, into };
}

function taken<Of extends Measure>(
  reading: Reading,
  { at, end }: { at: number; end: number },
  measure: Of,
): Of {
  reading.take(at, end);
  return measure;
}
