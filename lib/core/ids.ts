// Identifiers: a prefix that says what they name, then 26 characters that sort by time (ULID, github.com/ulid/spec).

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** All texts of two digits, made once: each call makes two ids. */
const PAIRS = Array.from({ length: 1024 }, (_, at) => ALPHABET.charAt(at >>> 5) + ALPHABET.charAt(at & 31));

/** Digits of an id that are its time. */
const TIME_DIGITS = 10;

/** What an id can name; the prefix is the shortened noun. */
export type IdPrefix =
  | ("ns" | "db" | "tok" | "qry" | "evt" | "req" | "snap" | "rule" | "run" | "apv" | "aud")
  | ("mem" | "ses" | "pky" | "cli" | "str" | "exp" | "imp" | "whk" | "msg" | "wev");

/** Ids may be ahead of the clock by so many milliseconds. Further ahead, it is the clock that was put back. */
const AHEAD_MS = 10_000;

let lastMs = -1;
let millisecondPart = "";
let counter = 0;

/**
 * A new id such as `qry_01JD…`: unique across processes (50 random bits, renewed each millisecond, and a 30-bit
 * counter) and increasing within one process, unless its clock is put back further than a correction. It is a name,
 * never a secret.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  if (lastMs - nowMs > AHEAD_MS) startMillisecond(nowMs);
  else if (nowMs > lastMs || counter >= 0x3fff_fffe) {
    startMillisecond(Math.max(nowMs, lastMs + (counter >= 0x3fff_fffe ? 1 : 0)));
  }
  counter++;
  const last = PAIRS[counter & 1023] ?? "";
  const middle = PAIRS[(counter >>> 10) & 1023] ?? "";
  return `${prefix}_${millisecondPart}${PAIRS[counter >>> 20]}${middle}${last}`;
}

/** The lowest id that `newId` could give at a time: for ranges over ids. */
export function idFloor(prefix: IdPrefix, unixMs: number): string {
  return `${prefix}_${timeDigits(Math.max(0, unixMs))}${"0".repeat(16)}`;
}

/** The time, in unix milliseconds, that an id of `newId` or `idFloor` begins with. */
export function idTime(id: string): number {
  const digits = id.slice(id.indexOf("_") + 1).slice(0, TIME_DIGITS);
  return [...digits].reduce((value, digit) => value * 32 + ALPHABET.indexOf(digit), 0);
}

/** Whether a text is a well-formed id with that prefix. Checked before an id becomes part of a path or a key. */
export function isId(prefix: IdPrefix, value: string): boolean {
  return value.length === prefix.length + 27 && value.startsWith(`${prefix}_`) &&
    /^[0-9A-HJKMNP-TV-Z]{26}$/.test(value.slice(prefix.length + 1));
}

function startMillisecond(nowMs: number): void {
  const random = crypto.getRandomValues(new Uint8Array(14));
  lastMs = nowMs;
  millisecondPart = timeDigits(nowMs);
  for (let i = 0; i < 10; i++) millisecondPart += ALPHABET.charAt((random[i] ?? 0) & 31);
  // The counter starts at a random value in the lower half, so that the next id cannot be guessed and half of the range
  // is left.
  counter = (((random[10] ?? 0) << 16) | ((random[11] ?? 0) << 8) | (random[12] ?? 0)) << 4;
}

function timeDigits(unixMs: number): string {
  let text = "";
  for (let left = unixMs; text.length < TIME_DIGITS; left = Math.floor(left / 32)) {
    text = ALPHABET.charAt(left % 32) + text;
  }
  return text;
}
