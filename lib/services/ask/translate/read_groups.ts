// Reads by what an answer is grouped: "per category", "for each customer", "by kind and status".
import type { AskTable } from "../model/ask_schema.ts";
import { type ColumnRef, dayOf, isDate, isNumber, labelOf } from "./column_kinds.ts";
import { joinPath } from "./join_path.ts";
import type { Mention } from "./link_names.ts";
import type { Measure, Term } from "./plan.ts";
import type { Reading } from "./reading.ts";

/** By what the answer is grouped. */
export interface Grouping {
  readonly terms: readonly Term[];
  readonly table: AskTable | null;
}

/** "per category", "for each customer", "in each city", "by month", "by kind and status". */
export function readGroups(reading: Reading, measure: Measure | null): Grouping | null {
  const root = reading.subject ??
    (measure?.kind === "aggregate" ? measure.term.ref.table : measure?.table ?? null);
  for (let at = 0; at < reading.tokens.length; at++) {
    if (!/^(per|each|every|by)$/.test(reading.open(at))) continue;
    if (/^(sorted|ordered|ranked|order|sort)$/.test(reading.word(at - 1))) continue;
    const first = readPeriod(reading, at, root) ?? readGroup(reading, at, root);
    if (first === null) continue;
    // "warehouses by capacity" may mean an order as well.
    const [term] = first.terms;
    if (measure === null && reading.word(at) === "by" && term && isNumber(term.ref.table, term.ref.column)) {
      reading.refuse(`say "sorted by" or "number of … by"`);
    }
    const and = reading.tokens.findIndex((_, index) =>
      index > at && reading.open(index) === "and" && reading.used[index - 1]
    );
    const second = and < 0 ? null : readGroup(reading, and, root);
    if (first.table && second?.table) return null;
    return { table: first.table ?? second?.table ?? null, terms: [...first.terms, ...second?.terms ?? []] };
  }
  return null;
}

/** "per month" of the date of what is counted or added up, or of what that belongs to. */
function readPeriod(reading: Reading, at: number, root: AskTable | null): Grouping | null {
  const unit = /^(month|year|day)(ly)?$/.exec(reading.word(at + 1))?.[1];
  if (unit !== "month" && unit !== "year" && unit !== "day") return null;
  const parents = reading.schema.tables.filter(({ name }) =>
    root?.foreignKeys.some(({ toTable }) => toTable === name)
  );
  const own = root && dayOf(root);
  const [ref, ...more] = own ? [own] : parents.flatMap((table) => dayOf(table) ?? []);
  if (!ref || more.length > 0) return null;
  reading.take(at, at + 2);
  return { terms: [{ kind: unit, ref }], table: null };
}

/** The group that is named behind the word at `at`. */
function readGroup(reading: Reading, at: number, root: AskTable | null): Grouping | null {
  const mention = reading.next(at + 1);
  if (!mention || mention.weak || mention.values.length + mention.states.length > 0) return null;
  if (isValueNext(reading, mention)) return null;
  const own = mention.table === null ? reading.next(mention.end) : null;
  const refs = mention.table
    ? []
    : mention.columns.filter(({ table, column }) => !isNumber(table, column) || own?.at !== mention.end);
  const ref = reading.choose(refs, (one) => one);
  if (mention.table === null && ref === null) return null;
  reading.take(at, at + 1);
  reading.spend(mention);
  if (mention.table) return groupOf(mention.table);
  if (ref === null) return null;
  const target = targetOf(reading, ref, root);
  return target
    ? groupOf(target)
    : { terms: [isDate(ref.column) ? { kind: "day", ref } : { kind: "column", ref }], table: null };
}

/** "by author Noel Park" is a condition. */
function isValueNext(reading: Reading, mention: Mention): boolean {
  const next = reading.next(mention.end);
  return next?.at === mention.end && next.values.length > 0;
}

/** The table that a reference leads to, where what is counted reaches it by that very reference. */
function targetOf(reading: Reading, { table, column }: ColumnRef, root: AskTable | null): AskTable | null {
  const key = table.foreignKeys.find(({ columns }) => columns.includes(column.name));
  const target = reading.schema.tables.find(({ name }) => name === key?.toTable);
  if (!target || root === null) return null;
  const last = joinPath(reading.schema, root, new Set([target]))?.at(-1);
  if (last?.from === table && !last.ambiguous && last.on.some(([from]) => from === column.name)) {
    return target;
  }
  reading.refuse("what is counted belongs together with that in several ways; say which one");
  return null;
}

/** The rows of a table as groups, shown by their names. */
export function groupOf(table: AskTable): Grouping {
  const label = labelOf(table);
  const shown = label.length > 0 ? label : table.columns.filter(({ pk }) => pk > 0);
  return { terms: shown.map((column) => ({ kind: "column", ref: { table, column } })), table };
}
