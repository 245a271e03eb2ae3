// Cuts an answer that is too long for its reader: lists end sooner, long texts too, and the answer says so. Pure.
import { beginning } from "../../../lib/core/plain_text.ts";
import { jsonWithReals } from "../../../lib/sql/words/row_form.ts";

/** Characters of one answer: clients cut at 25,000 tokens. */
export const MAX_ANSWER_LENGTH = 50_000;

/** Bounds that are tried one after the other: elements of a list, characters of a text. */
const STEPS: readonly (readonly [elements: number, characters: number])[] = [
  ...([500, 200, 100, 50, 20, 10, 5] as const).map((elements) => [elements, 4000] as const),
  ...([10, 5, 2, 1] as const).map((elements) => [elements, 500] as const),
  [1, 50],
];

/** The value, or as much of it as an answer has room for; then `cut` says how long a list still is. */
export function fitted(value: object): object {
  if (jsonWithReals(value).length <= MAX_ANSWER_LENGTH) return value;
  for (const [elements, length] of STEPS) {
    const cut = { ...cutMembers(value, elements, length), cut: cutNote(elements, length) };
    if (jsonWithReals(cut).length <= MAX_ANSWER_LENGTH) return cut;
  }
  return { cut: "Ask for less; this is longer than an answer may be" };
}

/** The value without members that say nothing: empty texts and lists, and flags that are false. */
export function terse(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== "" && one !== false && !isEmptyList(one))
      .map(([name, one]) => [name, terseValue(one)]),
  );
}

function terseValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(terseValue);
  return typeof value === "object" && value !== null ? terse(value) : value;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function cutNote(elements: number, length: number): string {
  return `Lists end after ${elements} elements and texts after ${length} characters; ask for less to see the rest`;
}

function cutMembers(value: object, elements: number, length: number): object {
  const cut = Object.entries(value).map(([name, one]) => [name, cutValue(one, elements, length)]);
  return Object.fromEntries(cut);
}

function cutValue(value: unknown, elements: number, length: number): unknown {
  if (typeof value === "string") return value.length > length ? `${beginning(value, length)}…` : value;
  if (Array.isArray(value)) return value.slice(0, elements).map((one) => cutValue(one, elements, length));
  return typeof value === "object" && value !== null ? cutMembers(value, elements, length) : value;
}
