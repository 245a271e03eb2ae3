// Parses the JSON of a request: the one place where a body that is no JSON becomes a failure of the error table.
import { AppError } from "../core/errors.ts";
import { CLASS_MEMBERS, endOfString, LONG_TEXT, surveyJson } from "./survey_json.ts";

/**
 * Bounds of a long text, far from what any call has to say: 8 MiB have room for 645,000 of the shortest blobs. Beyond them the
 * thread that serves everybody would be held for seconds.
 */
const most = { lists: 250_000, objects: 800_000, wideMembers: 100_000, beginnings: 10_000 } as const;

/** A run of digits so long may be an integer that a double cannot hold. */
const LONG_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;
/** Characters of a number. */
const NUMBER = /[\d.eE+-]/;
const REST = /[\d.eE+-]+/y;
const QUOTE = 34;
/** No INTEGER is larger. */
const INTEGERS_END = 2 ** 63;

/**
 * The value. Errors: `invalid_json`, also for an integer that would be rounded on the way (2^53 + 1 as a number).
 * The parser's own words are dropped because they quote the body.
 */
export function parseJson(text: string): unknown {
  const value = parseRoundedJson(text);
  refuseRounded(text);
  return value;
}

/** For text that is JSON. Errors: `invalid_json` where an integer of it is rounded on the way. */
export function refuseRounded(text: string): void {
  const at = LONG_DIGITS.test(text) ? roundedInteger(text) : null;
  if (at === null) return;
  throw new AppError("invalid_json", {
    message:
      "Send integers beyond 2^53 as strings of digits, and REALs of that size with an exponent (1.5e18); " +
      `as a number the one behind ${at} characters of the JSON would be rounded`,
  });
}

/** Null: the text costs no more to parse than its length lets expect. Otherwise what its sender is told. */
export function whatCostsMuch(text: string): string | null {
  if (text.length < LONG_TEXT) return null;
  const { lists, objects, wideMembers, beginnings } = surveyJson(text);
  if (lists > most.lists) return `Send at most ${most.lists} lists at once; this has ${lists}`;
  if (objects > most.objects) return `Send at most ${most.objects} objects at once; this has ${objects}`;
  if (wideMembers > most.wideMembers) {
    return `Send objects of at most ${CLASS_MEMBERS} fields, and in all at most ${most.wideMembers} beyond that; these have ${wideMembers}`;
  }
  if (beginnings <= most.beginnings) return null;
  return `Send objects that have the same fields in the same order; these have more than ${most.beginnings} different ones`;
}

/** The same where all numbers are meant as doubles. Errors: `invalid_json`. */
export function parseRoundedJson(text: string): unknown {
  const message = whatCostsMuch(text);
  if (message !== null) throw new AppError("invalid_json", { message });
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid_json");
  }
}

/**
 * For text that is JSON: the index of the first integer that is rounded; null: none is. A reviver would see the same, but
 * costs a call for every value of the body.
 */
function roundedInteger(text: string): number | null {
  const digits = new RegExp(LONG_DIGITS, "g");
  let outside = 0;
  for (let found = digits.exec(text); found; found = digits.exec(text)) {
    for (; outside < found.index; outside++) {
      if (text.charCodeAt(outside) === QUOTE) outside = endOfString(text, outside);
    }
    if (outside === found.index) {
      REST.lastIndex = found.index;
      outside += REST.exec(text)?.[0].length ?? 0;
      const start = startOfNumber(text, found.index);
      if (isRounded(text.slice(start, outside))) return start;
    }
    digits.lastIndex = outside;
  }
  return null;
}

/** The index of the first character of the number that contains the digit at `at`. */
function startOfNumber(text: string, at: number): number {
  let start = at;
  while (start > 0 && NUMBER.test(text.charAt(start - 1))) start--;
  return start;
}

/**
 * A number that is written as JavaScript writes it is a REAL that somebody has read, where it is too large for an
 * INTEGER. A smaller one may be an INTEGER whose last digits are zeros.
 */
function isRounded(number: string): boolean {
  if (!INTEGER.test(number)) return false;
  const value = Number(number);
  if (Number.isSafeInteger(value)) return false;
  if (Math.abs(value) >= INTEGERS_END && String(value) === number) return false;
  return !Number.isFinite(value) || BigInt(number) !== BigInt(value);
}
