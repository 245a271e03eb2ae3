// Reads what narrows the rows, from left to right: values, states, what is missing, dates.
import { DAY_MS } from "../../../core/clock.ts";
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, dayOf, isBirth, isDate, isFlag, isYear, rangeOf } from "./column_kinds.ts";
import { eventTable, isEvent, takeEnding } from "./events.ts";
import type { DateSpan } from "./find_dates.ts";
import { harmless, timely } from "./lexicon.ts";
import type { Mention } from "./link_names.ts";
import type { Condition } from "./plan.ts";
import type { Reading } from "./reading.ts";
import { readPhrases } from "./read_phrases.ts";
import { readValue } from "./read_values.ts";
import { roleOf, severalWays } from "./references.ts";
import { type State, turned } from "./states.ts";

/** Dates that have no column yet. */
type Open = Set<DateSpan>;

/** Adds the conditions. The tokens of `dates` are used already. */
export function readConditions(reading: Reading, dates: readonly DateSpan[]): void {
  const open: Open = new Set(dates);
  readPhrases(reading);
  for (const mention of reading.openMentions()) {
    if (reading.spent.has(mention)) continue;
    const perfect = isPerfect(reading, mention, open);
    const dated = spanBeside(reading, mention, open) !== null && mention.columns.some(({ column }) =>
      isDate(column)
    ) &&
      !mention.states.some(({ test }) => test === "set");
    if (
      mention.values.length > 0 && !(perfect && mention.states.length > 0) && !isEvent(reading, mention)
    ) readValue(reading, mention);
    else if (mention.states.length > 0 && !dated) readState(reading, mention, open);
    else readNamed(reading, mention, open);
  }
  for (const span of open) readDefaultDay(reading, span);
}

/** "have been shipped", "not published yet", "shipped last week" speak of a date, "shipped orders" of a state of now. */
function isPerfect(reading: Reading, mention: Mention, open: Open): boolean {
  const around = [mention.at - 1, mention.at - 2, mention.end].map((at) => reading.word(at));
  return around.some((word) => /^(been|has|have|had|yet|already|never)$/.test(word)) ||
    spanBeside(reading, mention, open) !== null;
}

function readState(reading: Reading, mention: Mention, open: Open): void {
  // "open tickets" are open in the way of tickets.
  const noun = reading.mentions.find((one) => one.at === mention.end)?.table;
  const own = mention.states.filter(({ ref }) => ref.table === noun);
  const state = reading.choose(noun ? own : mention.states, ({ ref }) => ref);
  if (state === null) return;
  const span = isDate(state.ref.column) ? spanBeside(reading, mention, open) : null;
  const at = reading.negation(mention);
  if (span && (at >= 0 || state.test !== "set")) {
    reading.refuse("what did not happen in a time cannot be told from what will happen; ask for either");
    return;
  }
  reading.spend(mention);
  if (at >= 0) reading.take(at, mention.at);
  const { table } = state.ref;
  const none = at >= 0 && /^(no|without|never|nobody)$/.test(reading.word(at)) && reading.hasMany(table);
  if (none && reading.subject) {
    // "customers without delivered orders" may have others.
    const inner = [conditionOf(state)];
    takeAnything(reading, mention);
    reading.conditions.push({ kind: "exists", of: reading.subject, table, inner, not: true });
  } else if (span) addDays(reading, span, state.ref, open);
  else reading.conditions.push(conditionOf(at >= 0 ? turned(state) : state));
}

function conditionOf({ ref, test }: State): Condition {
  if (test === "set" || test === "empty") return { kind: "null", ref, not: test === "set" };
  const operator = test === "yes" && !isFlag(ref.column) && !/\b1 /.test(ref.column.description) ? "<>" : "=";
  return { kind: "compare", ref, operator, value: test === "yes" && operator === "=" ? 1 : 0 };
}

/** A column or a table: what is missing, or the date that is meant. */
function readNamed(reading: Reading, mention: Mention, open: Open): void {
  takeEnding(reading, mention);
  const { table } = mention;
  const other = table !== null && table !== reading.subject ? table : null;
  const twice = other !== null && isReferredTwice(reading, other);
  const at = reading.negation(mention, twice ? /^(received?|sent|got)$/ : undefined);
  const event = at >= 0 && /^(never|nobody|not|none)$/.test(reading.word(at))
    ? eventTable(reading, mention)
    : null;
  if (event) return readAbsence(reading, mention, event, { at, open });
  if (other && at >= 0) return readAbsence(reading, mention, other, { at, open });
  if (readYear(reading, mention, open)) return;
  const dated = mention.score < 0.8 && !mention.weak
    ? null
    : reading.column(mention, ({ column }) => isDate(column));
  const span = dated && at < 0 ? spanBeside(reading, mention, open) : null;
  if (dated && span) {
    reading.spend(mention);
    addDays(reading, span, dated, open);
    return;
  }
  const beside = other && spanBeside(reading, mention, open);
  const day = other && beside && dayOf(other);
  if (beside && day) {
    reading.spend(mention);
    addDays(reading, beside, day, open);
  }
  if (other) return;
  const ref = at >= 0 ? reading.column(mention, ({ column }) => !isFlag(column)) : null;
  const owned = at < 0 && reading.open(mention.at - 1) === "with" ||
    reading.phrase(mention.at - 2, "with a") > 0;
  const had = owned && mention.score === 1 ? reading.column(mention, ({ column }) => !column.notNull) : null;
  const column = ref ?? had;
  if (column === null || mention.weak) return;
  if (column.column.notNull) {
    reading.refuse(`"${reading.said(mention.at, mention.end)}" is never empty; say what its value is`);
    return;
  }
  if (at >= 0) reading.take(at, mention.at);
  reading.spend(mention);
  reading.conditions.push({ kind: "null", ref: column, not: ref === null });
}

/** "born before 1970" of a year that is a number. */
function readYear(reading: Reading, mention: Mention, open: Open): boolean {
  const ref = reading.column(mention, ({ column }) => isYear(column));
  const span = ref && spanBeside(reading, mention, open);
  if (!ref || !span || ![span.from, span.before].every((day) => day === null || day.endsWith("-01-01"))) {
    return false;
  }
  reading.spend(mention);
  open.delete(span);
  for (const [operator, day] of [[">=", span.from], ["<", span.before]] as const) {
    if (day !== null) {
      reading.conditions.push({ kind: "compare", ref, operator, value: Number(day.slice(0, 4)) });
    }
  }
  return true;
}

/** Whether rows of a table refer to the subject in several ways. */
function isReferredTwice({ subject }: Reading, table: AskTable): boolean {
  return table.foreignKeys.filter(({ toTable }) => toTable === subject?.name).length > 1;
}

/** "customers without orders", "never received a shipment", "not ordered this year". */
function readAbsence(
  reading: Reading,
  mention: Mention,
  table: AskTable,
  { at, open }: { readonly at: number; readonly open: Open },
): void {
  const { subject } = reading;
  if (subject === null) return;
  const several = isReferredTwice(reading, table);
  const by = several ? roleOf(reading, { host: table, target: subject, before: mention.at }) : null;
  if (several && by === null) {
    reading.refuse(...severalWays(table, subject));
    return;
  }
  reading.take(at, mention.at);
  reading.spend(mention);
  const inner: Condition[] = [];
  const span = spanBeside(reading, mention, open);
  const day = span && dayOf(table);
  if (span && day) {
    inner.push({ kind: "days", ref: day, from: span.from, before: span.before });
    open.delete(span);
  }
  takeAnything(reading, mention);
  reading.conditions.push({ kind: "exists", of: subject, table, inner, not: true, by });
  reading.absence = { table, inner };
}

/** "never ordered anything" */
function takeAnything(reading: Reading, { end }: Mention): void {
  if (/^(anything|something)$/.test(reading.open(end))) reading.take(end, end + 1);
}

/** The date that stands beside a mention, with nothing but small words between. */
function spanBeside(reading: Reading, mention: Mention, open: Open): DateSpan | null {
  const valued = (at: number) =>
    reading.mentions.some((one) => one.at <= at && one.end > at && one.values.length > 0);
  const small = (from: number, to: number) =>
    reading.tokens.slice(from, to).every(({ lower }, step) =>
      harmless.has(lower) || timely.has(lower) || reading.used[from + step] || valued(from + step)
    );
  for (const span of open) {
    const after = span.at >= mention.end && span.at - mention.end <= 4 && small(mention.end, span.at);
    const before = span.end <= mention.at && mention.at - span.end <= 2 && small(span.end, mention.at);
    if (after || before) return span;
  }
  return null;
}

function addDays(reading: Reading, span: DateSpan, ref: ColumnRef, open: Open): void {
  open.delete(span);
  reading.conditions.push({ kind: "days", ref, from: span.from, before: span.before });
}

/** A date that nothing is said about means when the rows in question happened. */
function readDefaultDay(reading: Reading, span: DateSpan): void {
  const { subject, conditions, schema } = reading;
  // What lasts several days is there on each of them.
  const range = subject && rangeOf(subject);
  if (range && span.from && span.before && Date.parse(span.before) - Date.parse(span.from) <= DAY_MS) {
    conditions.push({ kind: "days", ref: range.first, from: null, before: span.before });
    conditions.push({ kind: "days", ref: range.last, from: span.from, before: null });
    return;
  }
  const others = conditions.map((one) => one.kind === "exists" ? one.of : one.ref.table).filter((table) =>
    table !== subject
  );
  const dateless = !subject?.columns.some((column) => isDate(column) && !isBirth(column));
  const parents = schema.tables.filter(({ name }) =>
    subject?.foreignKeys.some(({ toTable }) => toTable === name)
  );
  // "Who did not show up in January" is about the showing up.
  const tried = reading.word(0) === "who"
    ? [others, [subject]]
    : [[subject], others, dateless ? parents : []];
  for (const tables of tried) {
    const [ref, ...more] = new Set(
      tables.flatMap((table) => table ? dayOf(table) ?? [] : []).map(({ column, table }) => ({
        column,
        table,
      })),
    );
    if (ref === undefined) continue;
    if (more.some(({ column }) => column !== ref.column)) break;
    conditions.push({ kind: "days", ref, from: span.from, before: span.before });
    return;
  }
  reading.refuse("it is not clear which date is meant; name it");
}
