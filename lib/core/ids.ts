// Identifiers: a prefix that says what it names, then 26 characters that sort by time (ULID, github.com/ulid/spec).

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** All texts of two digits: an id is made twice for every call. */
const PAIRS = Array.from({ length: 1024 }, (_, at) => ALPHABET.charAt(at >>> 5) + ALPHABET.charAt(at & 31));

/** What an id can name; the prefix is the noun, shortened. */
export type IdPrefix = "ns" | "db" | "tok" | "qry" | "evt" | "req" | "snap" | "mem" | "rule" | "run" | "apv";

let lastMs = -1;
let millisecondPart = "";
let counter = 0;

/**
 * A new id such as `qry_01JD…`: unique across processes (50 random bits renewed each millisecond beside a
 * 30-bit counter), increasing within one process. It is a name, never a secret.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  if (nowMs > lastMs || counter >= 0x3fff_fffe) {
    startMillisecond(Math.max(nowMs, lastMs + (counter >= 0x3fff_fffe ? 1 : 0)));
  }
  counter++;
  const last = PAIRS[counter & 1023] ?? "";
  const middle = PAIRS[(counter >>> 10) & 1023] ?? "";
  return `${prefix}_${millisecondPart}${PAIRS[counter >>> 20]}${middle}${last}`;
}

/** The lowest id that `newId` can give at a time: for ranges over ids, never a name of something. */
export function idFloor(prefix: IdPrefix, unixMs: number): string {
  return `${prefix}_${base32(Math.max(0, unixMs), 10)}${"0".repeat(16)}`;
}

/** True for a well-formed id of that prefix: the guard before an id becomes part of a path or a key. */
export function isId(prefix: IdPrefix, value: string): boolean {
  return value.length === prefix.length + 27 && value.startsWith(`${prefix}_`) &&
    /^[0-9A-HJKMNP-TV-Z]{26}$/.test(value.slice(prefix.length + 1));
}

function startMillisecond(nowMs: number): void {
  const random = crypto.getRandomValues(new Uint8Array(14));
  lastMs = nowMs;
  millisecondPart = base32(nowMs, 10);
  for (let i = 0; i < 10; i++) millisecondPart += ALPHABET.charAt((random[i] ?? 0) & 31);
  // Starting low in the upper half of the range keeps ids unguessable in order but leaves half of it to count up.
  counter = (((random[10] ?? 0) << 16) | ((random[11] ?? 0) << 8) | (random[12] ?? 0)) << 4;
}

function base32(value: number, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(value % 32) + text;
    value = Math.floor(value / 32);
  }
  return text;
}
