// Makes a plan of a question whose names and values are linked; null where a part of it is not understood.
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, isDate, shownOf } from "./column_kinds.ts";
import { eventTable } from "./events.ts";
import type { DateSpan } from "./find_dates.ts";
import { joinPath } from "./join_path.ts";
import type { Mention } from "./link_names.ts";
import { ownKey } from "./own_references.ts";
import { isMeasure, type Measure, type Plan, type Term } from "./plan.ts";
import { readAmounts } from "./read_amounts.ts";
import { readConditions } from "./read_conditions.ts";
import { type Grouping, groupOf, readGroups } from "./read_groups.ts";
import { readMeasure } from "./read_measure.ts";
import { type Ranked, readOrder } from "./read_order.ts";
import { readSubject, readSubjectOfValue } from "./read_subject.ts";
import { singular } from "../../singular.ts";
import type { Reading } from "./reading.ts";
import { superlatives } from "./scales.ts";

/** The plan, or null. What stays open of the question is for the caller to see. */
export function understand(reading: Reading, dates: readonly DateSpan[]): Plan | null {
  readSubject(reading);
  if (reading.subject === null) readAsked(reading);
  const ranked = readOrder(reading);
  const counted = readMeasure(reading);
  const groups = readGroups(reading, counted);
  const bound = readAmounts(reading);
  reading.subject ??= reading.asked?.table ?? null;
  readWhen(reading);
  readConditions(reading, dates);
  const measure = counted ?? (ranked?.kind === "extreme" ? ranked.measure : null) ??
    countOfGroups(reading, groups);
  reading.measured = measure !== null;
  checkThrough(reading);
  const root = reading.subject ?? rootOf(measure);
  if (root === null) return null;
  const { shown, distinct } = readShown(reading, root);
  readRest(reading, root, [...shown, ...groups?.terms ?? []]);
  const plan: Plan = {
    root,
    terms: [...groups?.terms ?? [], ...shown],
    measures: measure ? [measure] : [],
    conditions: reading.conditions,
    grouped: groups !== null,
    groupTable: groups?.table ?? null,
    distinct: distinct && measure === null,
    having: bound && {
      measure: { kind: "rows", table: bound.table },
      operator: bound.operator,
      value: bound.value,
    },
    ...orderOf(ranked, measure),
  };
  return fits(plan, shown, ranked) ? completed(plan, reading.asked) : null;
}

/** "which cities", "the titles by …": a column that is asked for where no table is; else what a value belongs to. */
function readAsked(reading: Reading): void {
  const [first] = reading.openMentions();
  const counted =
    /^(many|much|average|avg|mean|total|sum|highest|lowest|best|worst|of|number|most|maximum|minimum|for|per|each)$/;
  const summed = reading.tokens.some(({ lower }) => /^(average|total|sum|per|each|many|much)$/.test(lower));
  const named = first && !first.weak && first.columns.length > 0 &&
    first.values.length + first.states.length === 0;
  if (
    first && named && !counted.test(reading.word(first.at - 1)) &&
    !superlatives.has(reading.word(first.at - 1)) && !summed
  ) {
    const ref = reading.column(first);
    if (ref === null) return;
    // "arrivals today" are the rows of that date.
    if (isDate(ref.column) || ownKey(first)) reading.subject = ref.table;
    if (isDate(ref.column) || ownKey(first)) return;
    reading.spend(first);
    reading.shown.add(first);
    reading.asked = ref;
    return;
  }
  if (!summed) readSubjectOfValue(reading);
}

/** What is asked of rows in between would have to hold for one and the same of them, which two conditions do not say. */
function checkThrough(reading: Reading): void {
  const between = reading.conditions.flatMap((one) =>
    one.kind === "exists" && !one.not && one.inner.some(({ kind }) => kind === "exists") ? [one.table] : []
  );
  const also = reading.conditions.some((one) => one.kind !== "exists" && between.includes(one.ref.table));
  if (also) reading.refuse("it asks for too many things at once; ask for them one by one");
}

/** "when was it published" asks for a date. */
function readWhen(reading: Reading): void {
  if (reading.word(0) !== "when") return;
  for (const mention of reading.openMentions()) {
    const refs = [...mention.columns, ...mention.states.map(({ ref }) => ref)].filter(({ column }) =>
      isDate(column)
    );
    const ref = reading.choose(refs, (one) => one);
    if (ref === null) continue;
    reading.take(0, 1);
    reading.spend(mention);
    reading.asked = ref;
    return;
  }
}

function countOfGroups({ subject }: Reading, groups: Grouping | null): Measure | null {
  return groups && subject ? { kind: "rows", table: subject } : null;
}

function rootOf(measure: Measure | null): AskTable | null {
  if (measure === null) return null;
  return measure.kind === "rows" ? measure.table : measure.term.ref.table;
}

interface Shown {
  readonly shown: readonly Term[];
  /** Whether each value is asked for once. */
  readonly distinct: boolean;
}

/** "the email of customers", "customers with their city", "what is Rosa's gpa": columns that are to be shown. */
function readShown(reading: Reading, root: AskTable): Shown {
  const { asked } = reading;
  const terms: Term[] = asked ? [{ kind: "column", ref: asked }] : [];
  let distinct = asked !== null;
  for (const mention of reading.openMentions()) {
    const how = ownKey(mention) ? null : howShown(reading, mention);
    const ref = how && !mention.weak && mention.columns.length > 0 && !mention.table
      ? reading.column(mention)
      : null;
    // "who applied for" asks for the person, not for when.
    if (!ref || isDate(ref.column) && reading.word(0) === "who") continue;
    // "doctors and their specialties" shows the rows together with it.
    if (how === "beside" && terms.length === 0) terms.push(...groupOf(root).terms);
    if (/^(different|distinct|unique)$/.test(reading.open(mention.at - 1))) {
      reading.take(mention.at - 1, mention.at);
      distinct = true;
    }
    reading.spend(mention);
    reading.shown.add(mention);
    if (/^(when|what)$/.test(reading.open(0))) reading.take(0, 1);
    terms.push({ kind: "column", ref });
  }
  return { distinct, shown: terms };
}

function howShown(reading: Reading, mention: Mention): "alone" | "beside" | null {
  const { at, end } = mention;
  const first = reading.mentions.every((one) => one.at >= at) &&
    /^(of|by|for|from|in)$/.test(reading.word(end));
  if (first || /^(when|what)$/.test(reading.word(0)) && isAskedAlone(reading)) return "alone";
  const before = [at - 3, at - 2, at - 1].map((index) => reading.word(index)).join(" ").trim();
  if (/\b(and|with) (their|its|the|his|her)$/.test(before)) return "beside";
  const last = reading.mentions.findLast((one) => one.end <= at);
  const listed = reading.word(at - 1) === "and" && last && reading.shown.has(last);
  return listed ? "alone" : null;
}

/** "what is", "when was": not "what products". */
function isAskedAlone(reading: Reading): boolean {
  return /^(is|are|was|were|did|does|do|has)$/.test(reading.word(1));
}

/** Tables that are named and not used otherwise: a row of each has to belong to the row. */
function readRest(reading: Reading, root: AskTable, terms: readonly Term[]): void {
  const tables = new Set([
    root,
    ...terms.map(({ ref }) => ref.table),
    ...reading.conditions.flatMap((one) => one.kind === "exists" ? [one.of, one.table] : [one.ref.table]),
  ]);
  for (const mention of reading.openMentions()) {
    const { table, columns } = mention;
    if (table) {
      // "on loan" and "in order" are states that nothing tells of.
      const state = /^(on|in|under|at|off)$/.test(reading.word(mention.at - 1)) &&
        singular(reading.word(mention.end - 1)) === reading.word(mention.end - 1);
      if (state && !tables.has(table)) continue;
      if (!tables.has(table)) reading.conditions.push({ kind: "exists", of: root, table, inner: [] });
      reading.spend(mention);
      continue;
    }
    // A date that every row has ("hired", "bought") says no more than its verb.
    const certain = /ed$|ght$/.test(reading.word(mention.at)) &&
      columns.some(({ table, column }) => isDate(column) && column.notNull && tables.has(table));
    if (certain || readHappened(reading, root, mention)) reading.spend(mention);
  }
}

/** "who applied for …": a row of what happened belongs to the row, which the way to what is asked of it may say already. */
function readHappened(reading: Reading, root: AskTable, mention: Mention): boolean {
  const table = eventTable(reading, mention);
  if (table === null || reading.word(0) !== "who") return false;
  const asked = reading.conditions.flatMap((one) => one.kind === "exists" ? [] : [one.ref.table]);
  const passed = asked.some((one) =>
    joinPath(reading.schema, root, new Set([one]))?.some(({ to }) => to === table)
  );
  if (!passed) reading.conditions.push({ kind: "exists", of: root, table, inner: [] });
  return true;
}

function orderOf(ranked: Ranked | null, measure: Measure | null): Pick<Plan, "order" | "limit" | "offset"> {
  if (ranked?.kind !== "order") return { order: null, limit: null, offset: 0 };
  const { by, descending, limit, offset } = ranked.order;
  const key = by ?? measure;
  return { limit, offset, order: key && { by: key, descending } };
}

/** Whether the parts go together. */
function fits(
  { measures, grouped, order, having, root }: Plan,
  shown: readonly Term[],
  ranked: Ranked | null,
): boolean {
  if (measures.length > 0 && shown.length > 0) return false;
  if (ranked?.kind === "order" && order === null) return false;
  if (measures.length > 0 && !grouped && order !== null) return false;
  // The cheapest of each category would be another row for each.
  if (grouped && order !== null && !isMeasure(order.by)) return false;
  const own = having?.measure.kind === "rows" && having.measure.table === root;
  return having === null || (measures.length === 0 && !grouped && (!own || shown.length > 0));
}

/** Rows that are ranked or bound by a count are groups; rows of which nothing is asked for are shown whole. */
function completed(plan: Plan, asked: ColumnRef | null): Plan {
  const { root, terms, measures, order, having, grouped } = plan;
  const counted = (order && isMeasure(order.by) ? order.by : null) ?? having?.measure ?? null;
  if (counted && !grouped && measures.length === 0) {
    const own = asked ? { terms, table: null } : groupOf(root);
    return {
      ...plan,
      grouped: true,
      groupTable: own.table,
      terms: own.terms,
      measures: [counted],
      distinct: false,
    };
  }
  if (terms.length > 0 || measures.length > 0) return plan;
  return {
    ...plan,
    terms: shownOf(root).map((column) => ({ kind: "column", ref: { table: root, column } })),
  };
}
