// Reads what is asked for first, last, most or least, and how many of it.
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, dayOf, isDate, isKey, isNumeric, isYear, labelOf } from "./column_kinds.ts";
import { linkVerbs, ordinals } from "./lexicon.ts";
import type { Mention } from "./link_names.ts";
import type { Measure, Ordering, Term } from "./plan.ts";
import type { Reading } from "./reading.ts";
import { scaleColumn } from "./scale_column.ts";
import { gradable, type Grade, superlatives } from "./scales.ts";

/** An order, or the extreme value itself where no row is asked for. */
export type Ranked =
  | { readonly kind: "order"; readonly order: Ordering }
  | { readonly kind: "extreme"; readonly measure: Measure };

/** Null where the question asks for no order, or where what it is about stays open. */
export function readOrder(reading: Reading): Ranked | null {
  const top = readTop(reading);
  if (top) return { kind: "order", order: top };
  const next = readNext(reading) ?? readSorted(reading);
  if (next) return { kind: "order", order: next };
  for (let at = 0; at < reading.tokens.length; at++) {
    const found = readSuperlative(reading, at);
    if (found) return found;
  }
  return null;
}

/** "top 3 customers by number of orders", "first 5 orders". */
function readTop(reading: Reading): Ordering | null {
  const at = reading.tokens.findIndex((_, index) =>
    /^(top|bottom|first|last|latest|newest|oldest)$/.test(reading.open(index))
  );
  const limit = reading.tokens[at + 1]?.number ?? null;
  if (at < 0 || limit === null || !isCount(limit)) return null;
  const word = reading.word(at);
  const descending = /^(top|last|latest|newest)$/.test(word);
  const by = reading.tokens.findIndex((_, index) => index > at && /^(by|with|in)$/.test(reading.open(index)));
  const key = by < 0 ? null : readKey(reading, by + 1);
  const day = /^(first|last|latest|newest|oldest)$/.test(word) && reading.subject
    ? dayOf(reading.subject)
    : null;
  const order = key ?? (day && columnTerm(day));
  if (order === null) return null;
  reading.take(at, at + 2);
  if (key) reading.take(by, by + 1);
  return { by: order, descending, limit, offset: 0 };
}

/** "next appointment", "the next 3 classes": what begins first from now on. */
function readNext(reading: Reading): Ordering | null {
  const at = reading.tokens.findIndex((_, index) => reading.open(index) === "next");
  const ref = reading.subject && dayOf(reading.subject);
  const limit = reading.tokens[at + 1]?.number ?? null;
  const noun = reading.mentions.find((one) => one.at === at + (limit === null ? 1 : 2));
  if (at < 0 || !ref || noun?.table !== reading.subject) return null;
  reading.take(at, at + (limit === null ? 1 : 2));
  const now = new Date(reading.nowMs).toISOString().slice(0, 19).replace("T", " ");
  reading.conditions.push({ kind: "days", ref, from: now, before: null });
  return { by: columnTerm(ref), descending: false, limit: limit ?? 1, offset: 0 };
}

/** After "by": "number of orders", "total amount", "price". */
function readKey(reading: Reading, from: number): Term | Measure | null {
  let at = from;
  while (/^(the|their|total|sum|number|count|of|most|highest|overall)$/.test(reading.open(at))) at++;
  const said = reading.tokens.slice(from, at).map(({ lower }) => lower);
  const mention = reading.next(at);
  if (mention === null) return null;
  const counted = said.some((word) => /^(number|count|most)$/.test(word));
  const ref = counted ? null : reading.column(mention, (one) => isNumeric(one) || isDate(one.column));
  if (!ref && !mention.table) return null;
  reading.take(from, at);
  reading.spend(mention);
  if (mention.table && !ref) return { kind: "rows", table: mention.table };
  return ref && ofMany(reading, columnTerm(ref), "sum", said.some((word) => /^(total|sum)$/.test(word)));
}

/** Of what each row of the subject has several of, the sum or the extreme one counts. */
function ofMany(
  reading: Reading,
  term: Term,
  aggregate: "sum" | "max" | "min",
  always = false,
): Term | Measure {
  return reading.hasMany(term.ref.table) || always
    ? { kind: "aggregate", aggregate, term, distinct: false, into: null }
    : term;
}

function readSuperlative(reading: Reading, at: number): Ranked | null {
  const word = reading.open(at);
  const most = word === "most" || word === "least" || word === "fewest";
  if (most && reading.word(at - 1) === "at") return null;
  const adjective = most ? gradable.get(reading.open(at + 1)) : undefined;
  if (most && !adjective) return readMost(reading, at, word === "most");
  const grade: Grade | undefined = adjective
    ? { about: adjective, more: word === "most" }
    : superlatives.get(word);
  if (grade === undefined || word === "") return null;
  const end = at + (adjective ? 2 : 1);
  const named = reading.next(end);
  const column = named && reading.column(named, (ref) => isNumeric(ref) || isDate(ref.column));
  const other = named !== null && named.states.length + named.values.length > 0;
  if (named?.at === end && !other && column && (named.table === null || named.table !== reading.subject)) {
    reading.spend(named);
    return ranked(reading, { at, end, by: columnTerm(column), descending: grade.more, named: true });
  }
  const ref = reading.subject && scaleColumn(reading, grade.about, reading.subject);
  if (!ref) return null;
  if (isDate(ref.column) && !ref.column.notNull) reading.conditions.push({ kind: "null", ref, not: true });
  return ranked(reading, {
    at,
    end,
    by: columnTerm(ref),
    descending: isAge(grade, ref) ? !grade.more : grade.more,
  });
}

/** The oldest has the earliest birthday, and the most years. */
function isAge({ about }: Grade, { column }: ColumnRef): boolean {
  return about.date === "birth" && !isDate(column) && !isYear(column);
}

/** "the most appointments", "most viewed": what there are most of, or what is largest. */
function readMost(reading: Reading, at: number, descending: boolean): Ranked | null {
  const behind = reading.next(at + 1);
  // "earns the most" is about what the verb names.
  const named = behind?.at === at + 1 ? behind : reading.before(at, 2, (one) => one.columns.some(isNumeric));
  if (named === null || reading.subject === null && !named.table) return null;
  const ref = reading.column(named, isNumeric);
  if (ref) {
    reading.spend(named);
    return ranked(reading, { at, end: at + 1, by: columnTerm(ref), descending });
  }
  const table = named.table ?? eventOf(reading, named);
  if (table === null || table === reading.subject) return null;
  reading.spend(named);
  const verb = reading.word(at - 1) === "the" ? at - 2 : at - 1;
  if (linkVerbs.has(reading.open(verb)) && !reading.saysState(verb)) reading.take(verb, verb + 1);
  spendVerb(reading, verb, table);
  return ranked(reading, { at, end: at + 1, by: { kind: "rows", table }, descending });
}

/** "scored the most goals": a verb that only says what a goal's reference means. */
function spendVerb(reading: Reading, at: number, table: AskTable): void {
  const verb = reading.openMentions().find((one) => one.end === at + 1 && one.weak && one.table === null);
  const own = verb?.columns.every((ref) => ref.table === table && isKey(ref.table, ref.column));
  if (verb && own) reading.spend(verb);
}

/** "most borrowed": the rows that a date named so belongs to. */
function eventOf(reading: Reading, mention: Mention): AskTable | null {
  const refs = [...mention.columns, ...mention.states.map(({ ref }) => ref)].filter(({ column }) =>
    isDate(column)
  );
  return reading.choose(refs, (ref) => ref)?.table ?? null;
}

interface Found {
  readonly at: number;
  readonly end: number;
  readonly by: Term | Measure;
  readonly descending: boolean;
  /** Whether the question names the column. */
  readonly named?: boolean;
}

function ranked(reading: Reading, { at, end, by, descending, named = false }: Found): Ranked {
  reading.take(at, end);
  const isRow = by.kind === "rows" || by.kind === "aggregate";
  if (!isRow && /^(best|worst)$/.test(reading.word(at)) && reading.hasMany(by.ref.table)) {
    reading.refuse("best and worst of several values may mean their average or one of them; say which");
  }
  if (!isRow && !reading.asked && (reading.subject === null || (reading.subjectOfValue && named))) {
    reading.subject = by.ref.table;
    const aggregate = descending ? "max" : "min";
    return {
      kind: "extreme",
      measure: { kind: "aggregate", aggregate, term: by, distinct: false, into: null },
    };
  }
  const offset = ordinals.get(reading.open(at - 1)) ?? 0;
  if (offset > 0) reading.take(at - 1, at);
  const count = [at - 1, end, reading.subjectAt - 1].find((index) =>
    isCount(reading.used[index] ? null : reading.tokens[index]?.number ?? null)
  );
  if (count !== undefined) reading.take(count, count + 1);
  const limit = count === undefined ? 1 : reading.tokens[count]?.number ?? 1;
  const term = by.kind === "rows" || by.kind === "aggregate"
    ? by
    : ofMany(reading, by, descending ? "max" : "min");
  return { kind: "order", order: { by: term, descending, limit, offset } };
}

function isCount(value: number | null): boolean {
  return value !== null && Number.isInteger(value) && value >= 1;
}

function columnTerm(ref: ColumnRef): Term {
  return { kind: "column", ref };
}

/** "sorted by price", "newest first", "in descending order". */
function readSorted(reading: Reading): Ordering | null {
  let descending: boolean | null = null;
  let dated = false;
  for (let at = 0; at < reading.tokens.length; at++) {
    const word = reading.open(at);
    const grade = reading.open(at + 1) === "first" || reading.open(at + 1) === "to"
      ? superlatives.get(word)
      : undefined;
    if (/^(descending|desc|ascending|asc|alphabetically|alphabetical)$/.test(word)) {
      descending = word.startsWith("desc");
      reading.take(at, at + (reading.word(at + 1) === "order" ? 2 : 1));
    }
    if (grade) {
      descending = grade.more;
      dated = grade.about.date !== null;
      reading.take(at, at + (reading.word(at + 1) === "to" ? 3 : 2));
    }
  }
  const by = reading.tokens.findIndex((_, at) =>
    /^(sorted|ordered|ranked|order|sort)$/.test(reading.open(at)) && reading.word(at + 1) === "by"
  );
  const key = by < 0 ? null : readKey(reading, by + 2);
  if (key) reading.take(by, by + 2);
  const { subject } = reading;
  const whole = { limit: null, offset: 0 };
  const alphabetical = reading.tokens.some(({ lower }) => lower.startsWith("alphabetical"));
  const label = alphabetical && subject ? labelOf(subject)[0] : undefined;
  if (label && subject && key === null) {
    return { by: columnTerm({ table: subject, column: label }), descending: false, ...whole };
  }
  if (key === null && descending === null) return null;
  const day = dated && subject ? dayOf(subject) : null;
  return { by: key ?? (day && columnTerm(day)), descending: descending ?? false, ...whole };
}
