// Reads how much a question says: "9", "$9", "500 g", "half an hour", "30 euros a month".
import type { ColumnRef } from "./column_kinds.ts";
import { splitWords } from "../../schema/search_words.ts";
import { formsOf } from "./likeness.ts";
import type { Reading } from "./reading.ts";
import { type Unit, unitOf, unitOfWords } from "./units.ts";

const multiples: ReadonlyMap<string, number> = new Map([["thousand", 1e3], ["million", 1e6], [
  "billion",
  1e9,
]]);

/** A number with its unit, where one is said. */
export interface Quantity {
  readonly value: number;
  readonly unit: Unit | null;
  readonly end: number;
}

/** "9", "$9", "500 g", "half an hour", "an hour"; null where there is none or its unit is unknown. */
export function quantityAt(reading: Reading, at: number): Quantity | null {
  const half = reading.open(at) === "half";
  const from = half ? at + 1 : at;
  if (/^(a|an)$/.test(reading.open(from))) {
    const unit = unitOf(reading.open(from + 1));
    return unit && { unit, value: half ? 0.5 : 1, end: from + 2 };
  }
  const token = reading.tokens[at];
  if (!token || reading.used[at] || token.number === null || half) return null;
  const times = multiples.get(reading.open(at + 1)) ?? 1;
  const end = at + (times > 1 ? 2 : 1);
  const value = token.number * times;
  if (token.unit !== null) {
    const unit = unitOf(token.unit);
    return unit && { unit, value, end };
  }
  // In "5 years of experience" the unit is a part of a name.
  if (reading.mentions.some((one) => one.at === end && one.end > end + 1 && one.columns.length > 0)) {
    return { unit: null, value, end };
  }
  const two = /^(square|sq)$/.test(reading.open(end))
    ? unitOfWords(reading.open(end), reading.open(end + 1))
    : null;
  const unit = unitOf(reading.open(end)) ?? two;
  return { unit, value, end: end + (unit ? (unit === two ? 2 : 1) : 0) };
}

/** "30 euros a month" fits a column that is by the month. */
export function takeRate(reading: Reading, at: number, { column }: ColumnRef): void {
  const unit = reading.open(at + 1);
  if (!/^(a|per|an|each)$/.test(reading.open(at)) || !/^(hour|day|night|week|month|year)$/.test(unit)) return;
  const said = splitWords(`${column.name} ${column.description}`);
  if (said.some((word) => word.startsWith(unit) || formsOf(word).includes(unit))) {
    reading.take(at, at + 2);
  }
}
