// Reads what is asked for first, last, most or least, and how many of it.
import type { AskTable } from "../model/ask_schema.ts";
import { dayOf, isBirth, isDate, isNumber, measureOf } from "./column_kinds.ts";
import { gradable, type Superlative, superlatives } from "./lexicon.ts";
import type { ColumnRef, Mention } from "./link_names.ts";
import type { Measure, Ordering, Term } from "./plan.ts";
import type { Reading } from "./reading.ts";

interface Found {
  readonly at: number;
  readonly end: number;
  readonly kind: Superlative;
  readonly most: boolean;
}

/** The order, or null when the question asks for none. What it cannot read stays open. */
export function readOrder(reading: Reading, revenue: (at: number) => Term | null): Ordering | null {
  return readTop(reading, revenue) ?? readSuperlative(reading, revenue) ?? readSorted(reading);
}

/** "top 3 customers by …", "first 5 orders". */
function readTop(reading: Reading, revenue: (at: number) => Term | null): Ordering | null {
  for (let at = 0; at < reading.tokens.length; at++) {
    const word = reading.word(at);
    if (!/^(top|bottom|best|worst|first|last)$/.test(word)) continue;
    const limit = reading.tokens[at + 1]?.number ?? null;
    if (limit === null && !/^(top|bottom)$/.test(word)) continue;
    const entity = reading.mentionFrom(at + (limit === null ? 1 : 2));
    if (entity === null || (entity.table === null && entity.columns.length === 0)) continue;
    reading.take(at, at + (limit === null ? 1 : 2));
    const descending = !/^(bottom|worst|first)$/.test(word);
    const dated = /^(first|last)$/.test(word) && entity.table !== null ? dayOf(entity.table) : null;
    const said = readSuperlative(reading, revenue, entity);
    if (said) return { ...said, entity, bare: false, limit: limit ?? 10 };
    for (let by = entity.end; by < reading.tokens.length; by++) {
      if (!/^(by|in|with)$/.test(reading.word(by)) || reading.used[by]) continue;
      const key = readKey(reading, by + 1, revenue);
      if (key === null) continue;
      reading.take(by, by + 1);
      return { by: key, descending, limit: limit ?? 10, entity, bare: false };
    }
    const measure = dated ?? (entity.table && measureOf(entity.table));
    return measure && { by: columnTerm(measure), descending, limit: limit ?? 10, entity, bare: false };
  }
  return null;
}

/** After "by": "number of orders", "total amount", "price". */
function readKey(
  reading: Reading,
  from: number,
  revenue: (at: number) => Term | null,
): Term | Measure | null {
  let at = from;
  let aggregate: "sum" | "avg" | null = null;
  let counted = false;
  while (/^(the|their|total|sum|average|mean|number|count|of|most|highest|overall)$/.test(reading.word(at))) {
    if (/^(total|sum)$/.test(reading.word(at))) aggregate = "sum";
    if (/^(average|mean)$/.test(reading.word(at))) aggregate = "avg";
    if (/^(number|count)$/.test(reading.word(at))) counted = true;
    at++;
  }
  const term = revenue(at);
  if (term) {
    reading.take(from, at + 1);
    return { kind: "aggregate", aggregate: aggregate ?? "sum", term, distinct: false };
  }
  const mention = reading.mentionFrom(at);
  if (mention === null) return null;
  const next = reading.mentionFrom(mention.end);
  const owned = mention.table && next && next.at === mention.end && next.columns.length > 0 ? next : null;
  const column = reading.columnOf(
    owned ?? mention,
    ({ table, column }) => isNumber(table, column) || isDate(column),
  );
  reading.take(from, at);
  if (counted && mention.table) {
    reading.spend(mention);
    return { kind: "rows", table: mention.table };
  }
  if (owned) reading.spend(owned);
  reading.spend(mention);
  const ref = column ?? (mention.table && aggregate ? measureOf(mention.table) : null);
  if (ref === null) return mention.table ? { kind: "rows", table: mention.table } : null;
  return aggregate
    ? { kind: "aggregate", aggregate, term: columnTerm(ref), distinct: false }
    : columnTerm(ref);
}

function readSuperlative(
  reading: Reading,
  revenue: (at: number) => Term | null,
  known: Mention | null = null,
): Ordering | null {
  const found = findSuperlative(reading);
  if (found === null) return null;
  const { kind, most } = found;
  const first = reading.mentionFrom(found.end + (reading.phrase(found.end, "number of")));
  const next = first?.table && first.columns.length === 0 ? reading.mentionFrom(first.end) : null;
  const key = next && first && next.at === first.end && next.columns.length > 0 ? next : first;
  const owner = first && first.table === null ? reading.mentionFrom(first.end) : null;
  const rated = owner?.table && owner.at === first?.end ? owner : null;
  const before = known ?? rated ?? askedBefore(reading, found.at, key);
  const limit = numberBeside(reading, found, before);
  const counted = reading.phrase(found.end, "number of") > 0;
  const subject = (mention: Mention | null): AskTable | null => mention?.table ?? null;
  const result = (by: Term | Measure | null, entity: Mention | null, bare: boolean): Ordering => {
    reading.take(found.at, found.end + (counted ? 2 : 0));
    return { by, descending: kind.descending, limit: limit ?? (known ? null : 1), entity, bare };
  };
  const money = revenue(found.end);
  if (money && before) {
    return result({ kind: "aggregate", aggregate: "sum", term: money, distinct: false }, before, false);
  }
  if (kind.hints.length > 0 || kind.date) {
    const entity = subject(first) ? first : before;
    const table = subject(entity) ??
      (kind.date ? reading.open().find((one) => one.table)?.table ?? null : null);
    const ref = keyByHint(reading, kind, table);
    if (key?.table === null && key.columns.some(({ column }) => column === ref?.column)) reading.spend(key);
    if (ref) return result(columnTerm(ref), entity, false);
  }
  if (first === null) {
    // "earns the most" is about what the verb names.
    const verb = reading.mentionBefore(
      found.at,
      (one) => one.table === null && one.columns.some(isNumeric),
      2,
    );
    const ref = verb && reading.columnOf(verb, isNumeric);
    if (!verb || !ref || before === null) return null;
    reading.spend(verb);
    return result(columnTerm(ref), before, false);
  }
  if (first.table && (most || counted) && key === first) {
    reading.spend(first);
    return before && result({ kind: "rows", table: first.table }, before, false);
  }
  const ref = key && reading.columnOf(key, (one) => isNumeric(one) || isDate(one.column));
  if (key && ref) {
    reading.spend(key);
    if (first.table && key !== first && !before) reading.spend(first);
    return result(columnTerm(ref), before, before === null && limit === null);
  }
  const measure = first.table && measureOf(first.table);
  return measure ? result(columnTerm(measure), first, false) : null;
}

const isNumeric = ({ table, column }: ColumnRef) => isNumber(table, column);

function keyByHint(reading: Reading, { hints, date }: Superlative, table: AskTable | null): ColumnRef | null {
  if (date) {
    const named = reading.open().find((one) => one.columns.some(({ column }) => isDate(column)));
    const said = named && reading.columnOf(named, ({ column }) => isDate(column));
    if (said) reading.spend(named);
    if (said) return said;
    const birth = hints.length > 0 && table ? table.columns.find(isBirth) : undefined;
    return table && (birth ? { table, column: birth } : dayOf(table));
  }
  if (table) reading.context.add(table);
  const own = table &&
    hints.map((word) =>
      table.columns.find((one) => one.name.toLowerCase().includes(word) && isNumber(table, one))
    ).find((one) => one !== undefined);
  return table && own ? { table, column: own } : reading.columnNamed(hints, isNumber);
}

function findSuperlative(reading: Reading): Found | null {
  for (let at = 0; at < reading.tokens.length; at++) {
    if (reading.used[at]) continue;
    const word = reading.word(at);
    const least = word === "least" || word === "fewest";
    if (word === "most" || least) {
      if (reading.word(at - 1) === "at") continue;
      const next = superlatives.get(reading.word(at + 1));
      if (next) {
        return { at, end: at + 2, kind: { ...next, descending: next.descending !== least }, most: false };
      }
      const hints = gradable.get(reading.word(at + 1));
      const end = at + (hints && hints.length > 0 ? 2 : 1);
      if (!hints || hints.length > 0) {
        return { at, end, kind: { descending: !least, hints: hints ?? [], date: false }, most: !hints };
      }
      continue;
    }
    const kind = superlatives.get(word);
    if (kind && reading.word(at + 1) !== "first" && !/^(to|from)$/.test(reading.word(at - 1))) {
      return { at, end: at + 1, kind, most: false };
    }
  }
  return null;
}

/** What stands in front and is asked for: "which teacher …", "three courses with …". */
function askedBefore(reading: Reading, at: number, key: Mention | null): Mention | null {
  return reading.open().find((one) =>
    one.end <= at && one !== key && (one.table !== null || /^(which|what)$/.test(reading.word(one.at - 1)))
  ) ?? null;
}

/** "3 cheapest", "the lowest 5", "three courses with the most". */
function numberBeside(reading: Reading, { at, end }: Found, before: Mention | null): number | null {
  for (const index of [at - 1, end, before ? before.at - 1 : -1]) {
    const value = reading.tokens[index]?.number ?? null;
    if (value === null || reading.used[index] || !Number.isInteger(value) || value < 1) continue;
    reading.take(index, index + 1);
    return value;
  }
  return null;
}

function columnTerm(ref: ColumnRef): Term {
  return { kind: "column", ref };
}

/** The order, or null when the question asks for none. */
export function readSorted(reading: Reading): Ordering | null {
  let descending: boolean | null = null;
  let asked = false;
  for (let at = 0; at < reading.tokens.length; at++) {
    const word = reading.word(at);
    const kind = superlatives.get(word) ?? (word === "most" ? superlatives.get("highest") : undefined);
    if (kind && reading.word(at + 1) === "first") {
      [descending, asked] = [kind.descending, true];
      reading.take(at, at + 2);
    } else if (kind && reading.word(at + 1) === "to" && superlatives.has(reading.word(at + 2))) {
      [descending, asked] = [kind.descending, true];
      reading.take(at, at + 3);
    } else if (/^(descending|desc|ascending|asc|alphabetically|alphabetical)$/.test(word)) {
      [descending, asked] = [word.startsWith("desc"), true];
      reading.take(at, at + 1);
      if (reading.word(at + 1) === "order") reading.take(at + 1, at + 2);
    }
  }
  const by = reading.tokens.findIndex((_, at) =>
    /^(sorted|ordered|ranked|order|sort)$/.test(reading.word(at)) && reading.word(at + 1) === "by"
  );
  const mention = by < 0 ? null : reading.mentionFrom(by + 2);
  const ref = mention && reading.columnOf(mention);
  if (mention && ref) reading.spend(mention);
  if (!asked && !ref) return null;
  return {
    by: ref && { kind: "column", ref },
    descending: descending ?? false,
    limit: null,
    entity: null,
    bare: false,
  };
}
