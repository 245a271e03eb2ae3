// Makes a plan of a question whose names and values are linked; null where a part of it is not understood.
import type { AskTable } from "../model/ask_schema.ts";
import { isDate, isFlag, shownOf } from "./column_kinds.ts";
import type { DateSpan } from "./find_dates.ts";
import { fillers } from "./lexicon.ts";
import { joinPath } from "./join_path.ts";
import type { Mention } from "./link_names.ts";
import { isMeasure, type Measure, type Ordering, type Plan, type Term } from "./plan.ts";
import { groupOf, isAggregated, readGroups, readMeasure, revenueAt } from "./read_measures.ts";
import { readNumbers } from "./read_numbers.ts";
import { readOrder } from "./read_order.ts";
import type { Reading } from "./reading.ts";

/** Words that narrow or invert a question: when one stays open, something that was asked for would be ignored. */
const weighty =
  /^(not|no|without|never|none|except|more|less|fewer|most|least|before|after|since|until|between|above|below|over|under|than|top|bottom|older|younger|highest|lowest|average|total|sum|mean|per|each|every|don't|doesn't|didn't|haven't|hasn't|isn't|aren't|wasn't|weren't|times|ago|if|versus|compared|while)$/;

/** The plan, or null. */
export function understand(reading: Reading, dates: readonly DateSpan[]): Plan | null {
  const main = mainTable(reading);
  const bound = readNumbers(reading, dates, main);
  const aggregated = isAggregated(reading);
  const order = readOrder(reading, (at) => revenueAt(reading, at));
  const groups = readGroups(reading, aggregated);
  const measure = order?.bare ? null : readMeasure(reading);
  const draft = new Draft(reading, order);
  if (groups) draft.group(groups.terms, groups.table);
  if (bound) draft.bound(bound.table, bound.operator, bound.value);
  const plan = draft.finish(measure, aggregated);
  return plan && isHeard(reading) ? plan : null;
}

/** The main table of the question: the first that is named. */
function mainTable(reading: Reading): AskTable | null {
  const named = reading.open().find((one) => one.table !== null)?.table ?? null;
  return named ?? [...reading.context][0] ?? null;
}

/** Whether every word has a meaning or needs none. */
function isHeard(reading: Reading): boolean {
  return reading.tokens.every(({ lower, number }, at) =>
    reading.used[at] || (number === null && fillers.has(lower) && !weighty.test(lower))
  );
}

class Draft {
  #terms: Term[] = [];
  #groupTable: AskTable | null = null;
  #grouped = false;
  #having: Plan["having"] = null;
  #entity: Mention | null = null;

  constructor(private readonly reading: Reading, private readonly order: Ordering | null) {
    if (order?.entity && !reading.spent.has(order.entity)) {
      this.#entity = order.entity;
      reading.spend(order.entity);
    }
  }

  group(terms: readonly Term[], table: AskTable | null): void {
    this.#grouped = true;
    this.#terms.push(...terms);
    this.#groupTable = table;
  }

  bound(table: AskTable, operator: string, value: number): void {
    this.#having = { measure: { kind: "rows", table }, operator, value };
  }

  finish(measure: Measure | null, aggregated: boolean): Plan | null {
    const { reading, order } = this;
    const measures: Measure[] = measure ? [measure] : [];
    let orderBy = order?.by ?? null;
    if (order?.bare && orderBy && !isMeasure(orderBy)) {
      measures.push({
        kind: "aggregate",
        aggregate: order.descending ? "max" : "min",
        term: orderBy,
        distinct: false,
      });
      orderBy = null;
    }
    if (this.#grouped && measures.length === 0) {
      const counted = reading.open().find((one) => one.table !== null && one.table !== this.#groupTable);
      if (!counted?.table) return null;
      reading.spend(counted);
      measures.push({ kind: "rows", table: counted.table });
    }
    orderBy = this.#summed(orderBy);
    const ranked = (orderBy && isMeasure(orderBy)) || this.#having !== null;
    if (!this.#grouped && (measures.length === 0 || (ranked && this.#having === null))) this.#takeEntity();
    if (ranked && !this.#grouped && !this.#rank(orderBy, measures)) return null;
    const projected = this.#project(measures);
    if (projected === null) return null;
    const root = this.#root(measures);
    if (root === null) return null;
    const through = this.#through();
    if (this.#terms.length === 0 && measures.length === 0) {
      this.#terms = shownOf(root).map((column) => ({ kind: "column", ref: { table: root, column } }));
    }
    const [only] = measures;
    const by = orderBy ?? (order && !order.bare && order.by === null && only ? only : null);
    if (order && !order.bare && by === null) return null;
    if (aggregated && measures.length === 0 && !ranked && !order) return null;
    if (measures.length > 0 && !this.#grouped && order && !order.bare) return null;
    return {
      root,
      measures,
      through,
      terms: this.#terms,
      having: this.#having,
      conditions: reading.conditions,
      grouped: this.#grouped,
      groupTable: this.#groupTable,
      distinct: !this.#grouped && measures.length === 0 && this.#isDistinct(),
      order: by && { by, descending: order?.descending ?? false },
      limit: order && !order.bare ? order.limit : null,
    };
  }

  /** Rows ordered by a number of which each has several are ordered by its sum. */
  #summed(by: Term | Measure | null): Term | Measure | null {
    const table = this.#entity?.table;
    if (!by || isMeasure(by) || !table || by.ref.table === table || this.#grouped) return by;
    const path = joinPath(this.reading.schema, table, new Set([by.ref.table]));
    const many = path?.some((step) => step.many) ?? false;
    return many ? { kind: "aggregate", aggregate: "sum", term: by, distinct: false } : by;
  }

  /** The rows of the answer: the first table or column that is still open. */
  #takeEntity(): void {
    if (this.#entity) return;
    const asked = this.reading.open().find((one) => one.table !== null || isAskedFor(this.reading, one));
    if (asked === undefined) return;
    this.#entity = asked;
    this.reading.spend(asked);
  }

  /** Rows ordered by a count or a sum of what belongs to them are groups. */
  #rank(by: Term | Measure | null, measures: Measure[]): boolean {
    const entity = this.#entity ?? null;
    if (entity === null) return false;
    this.#grouped = true;
    if (by && isMeasure(by)) measures.push(by);
    if (entity.table) {
      const group = groupOf(entity.table);
      this.#groupTable = entity.table;
      this.#terms.push(...group.terms);
      return true;
    }
    const ref = this.reading.columnOf(entity);
    if (ref) this.#terms.push({ kind: "column", ref });
    return ref !== null;
  }

  /** Columns that are still open are shown. Null where they cannot stand beside what is added up. */
  #project(measures: readonly Measure[]): true | null {
    const { reading } = this;
    const entity = this.#entity;
    if (entity && entity.table === null && !this.#grouped) {
      const ref = reading.columnOf(entity);
      if (ref) this.#terms.push({ kind: "column", ref });
    }
    for (const mention of reading.open()) {
      if (mention.table !== null) continue;
      if (entity?.table && this.#terms.length === 0 && isBeside(reading, entity, mention)) {
        this.#terms.push(...groupOf(entity.table).terms);
      }
      const ref = reading.columnOf(mention);
      if (ref === null) return null;
      // A date that nothing is compared with ("registered", "placed") says no more than its verb.
      const verb = /ed$/.test(reading.word(mention.at)) && (isDate(ref.column) || mention.score < 1);
      if (verb && reading.word(0) !== "when") {
        reading.spent.add(mention);
        reading.take(mention.at, mention.end);
        continue;
      }
      if (measures.length > 0 || this.#grouped || isFlag(ref.column)) return null;
      reading.spend(mention);
      this.#terms.push({ kind: "column", ref });
    }
    return true;
  }

  #root(measures: readonly Measure[]): AskTable | null {
    const [measure] = measures;
    if (this.#entity?.table) return this.#entity.table;
    if (measure) return measure.kind === "rows" ? measure.table : measure.term.ref.table;
    const [term] = this.#terms;
    if (term) return term.ref.table;
    const [condition] = this.reading.conditions;
    // "Who works in Oslo" asks for a person, not for the city.
    if (condition === undefined || (this.reading.word(0) === "who" && condition.kind === "values")) {
      return null;
    }
    return condition.kind === "nothing" ? condition.of : condition.ref.table;
  }

  /** Tables that are named and not used otherwise. */
  #through(): AskTable[] {
    const tables = this.reading.open().flatMap((one) => one.table ?? []);
    for (const mention of this.reading.open()) this.reading.spend(mention);
    return [...new Set(tables)];
  }

  /** "the distinct reasons" and "which cities" ask for each value once. */
  #isDistinct(): boolean {
    return this.#terms.length > 0 && this.#entity?.table === null ||
      this.reading.tokens.some(({ lower }) => /^(distinct|different|unique)$/.test(lower));
  }
}

/** "doctors and their specialties" shows the rows together with it. */
function isBeside(reading: Reading, entity: Mention, mention: Mention): boolean {
  const words = reading.tokens.slice(entity.end, mention.at).map(({ lower }) => lower).join(" ");
  return /^(and|with|along with|together with)( their| its| the)*$/.test(words);
}

function isAskedFor(reading: Reading, mention: Mention): boolean {
  return mention.columns.length > 0 &&
    /^(which|what|distinct|different|unique)$/.test(reading.word(mention.at - 1));
}
