// Makes conditions of the values that a question repeats: "from Berlin", "high priority", "from North Hub to South Hub".
import type { ColumnRef } from "./column_kinds.ts";
import { exceptions, harmless, linkVerbs, negations } from "./lexicon.ts";
import type { Mention } from "./link_names.ts";
import type { Condition } from "./plan.ts";
import type { Reading } from "./reading.ts";
import { takeOwnReference } from "./own_references.ts";
import { forkTo, roleOf, severalWays, throughOf } from "./references.ts";

/** What a condition is made of. */
interface Meant {
  readonly ref: ColumnRef;
  /** Each with its spellings in the data. */
  readonly values: readonly (readonly string[])[];
  readonly not: boolean;
  readonly both: boolean;
}

/** Adds the condition that the values of a mention mean, with those that stand beside it. */
export function readValue(reading: Reading, mention: Mention): void {
  const noun = reading.mentions.find((one) => one.at === mention.end)?.table;
  const own = mention.values.filter(({ ref }) => ref.table === noun);
  const hit = reading.choose(own.length > 0 ? own : mention.values, ({ ref }) => ref);
  if (hit === null) return;
  const { ref } = hit;
  const mentions = [mention, ...listed(reading, mention, ref)];
  const [first] = mentions;
  const kin = takeOwnReference(reading, mention, ref);
  const start = kin?.at ?? takeLabels(reading, first ?? mention, mentions.at(-1) ?? mention, ref);
  const not = takeNegation(reading, start);
  const both = reading.open(start - 1) === "both";
  if (both) reading.take(start - 1, start);
  for (const one of mentions) reading.spend(one);
  for (let at = mention.at; at < (mentions.at(-1)?.at ?? 0); at++) reading.take(at, at + 1);
  const values = mentions.map((one) => {
    const fitting = one.values.filter((value) => value.ref.column === ref.column);
    return [...new Set(fitting.map(({ value }) => value))];
  });
  if (kin) {
    const { table } = ref;
    const { by, up } = kin;
    const inner: Condition[] = [{ kind: "values", ref, values: values.flat(), not: false }];
    reading.conditions.push({ kind: "exists", of: table, table, inner, not, by, up });
  } else add(reading, mention.at, { ref, values, not, both: both && mentions.length > 1 });
  takeVerbs(reading, start);
}

/** "Japan or Ireland", "web, door and partner": mentions of the same column that follow. */
function listed(reading: Reading, mention: Mention, { column }: ColumnRef): Mention[] {
  const more: Mention[] = [];
  for (let { end } = mention; end < reading.tokens.length;) {
    const joint = /^(or|and|nor)$/.test(reading.open(end)) ? 1 : 0;
    const next = reading.openMentions().find((one) => one.at === end + joint);
    const [left, right] = [reading.tokens[end - 1], reading.tokens[end]];
    const comma = left && right && right.start - left.end > 1;
    if (!next || (joint === 0 && !comma) || !next.values.some(({ ref }) => ref.column === column)) break;
    more.push(next);
    end = next.end;
  }
  return more;
}

/**
 * In "city Berlin", "the Premium plan" and "high priority" the word beside the value only names its column or its table.
 * Answers where the value with it begins.
 */
function takeLabels(reading: Reading, first: Mention, last: Mention, ref: ColumnRef): number {
  const names = (one: Mention) =>
    one.columns.some(({ column }) => column === ref.column) ||
    (one.table === ref.table && one.table !== reading.subject) ||
    one.columns.some(({ table, column }) =>
      table.foreignKeys.some(({ columns, toTable }) =>
        columns.includes(column.name) && toTable === ref.table.name
      )
    );
  const before = reading.before(first.at, 2, (one) => names(one) && areHarmless(reading, one.end, first.at));
  const after = reading.openMentions().find((one) => one.at === last.end && names(one));
  if (after) reading.spend(after);
  if (before && before.values.length === 0) {
    reading.spend(before);
    return before.at;
  }
  return first.at;
}

function areHarmless(reading: Reading, from: number, to: number): boolean {
  return reading.tokens.slice(from, to).every(({ lower }) =>
    /^(is|are|the|of|in|named|called|a|an)$/.test(lower)
  );
}

/** "not pending", "other than Berlin", "except Toys". */
function takeNegation(reading: Reading, start: number): boolean {
  let at = start - 1;
  for (; at >= 0; at--) {
    for (const phrase of exceptions) {
      const from = at + 1 - phrase.split(" ").length;
      const length = reading.phrase(from, phrase);
      if (length === 0) continue;
      reading.take(from, from + length);
      return true;
    }
    if (!/^(in|from|the|a|an|of|been|by|for|at|on|to|any|our)$/.test(reading.open(at))) break;
  }
  if (!negations.has(reading.open(at))) return false;
  reading.take(at, at + 1);
  return true;
}

function add(reading: Reading, start: number, { ref, values, not, both }: Meant): void {
  const { subject, absence, conditions } = reading;
  const { table } = ref;
  const all: Condition = { kind: "values", ref, values: values.flat(), not: false };
  const forked = forkTo(reading, table);
  if (forked) {
    const { host, target } = forked;
    const by = roleOf(reading, { host, target, before: start });
    if (by === null) {
      reading.refuse(...severalWays(host, target));
      return;
    }
    const inner: Condition = target === table ? all : { kind: "exists", of: target, table, inner: [all] };
    conditions.push({ kind: "exists", of: host, table: target, inner: [inner], not, by });
    return;
  }
  const through = subject && throughOf(reading, subject, table);
  if (through && subject) {
    const inner: Condition = { kind: "exists", of: through, table, inner: [all] };
    conditions.push({ kind: "exists", of: subject, table: through, inner: [inner], not });
    return;
  }
  const many = reading.hasMany(table);
  if (absence && many) {
    absence.inner.push(
      table === absence.table
        ? { ...all, not }
        : { kind: "exists", of: absence.table, table, inner: [all], not },
    );
    return;
  }
  if (subject && (both || (many && not))) {
    if (!many) {
      reading.refuse(`nothing has both "${values.flat().join('" and "')}"; ask for either`);
      return;
    }
    for (const one of both ? values : [values.flat()]) {
      const inner: Condition = { kind: "values", ref, values: one, not: false };
      conditions.push({ kind: "exists", of: subject, table, inner: [inner], not });
    }
    return;
  }
  const other = conditions.find((one) =>
    one.kind === "values" && one.ref.column === ref.column && one.not === not
  );
  if (other?.kind === "values" && !not) {
    const asked = [...other.values, ...values.flat()];
    reading.refuse(`"${asked.join('" and "')}" are asked for, and nothing has more than one of them`);
  }
  conditions.push({ ...all, not });
}

/** "works in", "written by": the value with its table says what the verb does. */
function takeVerbs(reading: Reading, start: number): void {
  for (let at = start - 1; at >= 0 && start - at <= 4; at--) {
    const word = reading.open(at);
    if (linkVerbs.has(word) && !reading.saysState(at)) reading.take(at, at + 1);
    else if (word !== "" && !harmless.has(word)) return;
  }
}
