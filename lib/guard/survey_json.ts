// Counts what stands in the text of JSON before it is parsed. It takes linear time for any text.

const QUOTE = 34;
const COLON = 58;
const OPEN = 123;
const CLOSE = 125;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const BACKSLASH = 92;

/** What the text shows. Repeated members are counted each time. */
export interface Survey {
  /** Members of the outermost object. */
  readonly members: number;
  /** Those of the object that has the most. */
  readonly mostMembers: number;
  /** Those of all objects that have more than `CLASS_MEMBERS`, without so many of each. */
  readonly wideMembers: number;
  /** Objects and lists inside each other, the outermost one included. */
  readonly depth: number;
  readonly objects: number;
  readonly lists: number;
  /**
   * How many beginnings its objects have, which differ in a name or in the order of names: about, and of short text 0. The parser
   * makes a class of objects for each.
   */
  readonly beginnings: number;
}

/** Characters from which the beginnings are counted. Shorter text is parsed in some milliseconds, whatever it is. */
export const LONG_TEXT = 32 * 1024;

/** The parser makes no classes of objects with more members. */
export const CLASS_MEMBERS = 200;

/** Correct for text that is JSON. The parser refuses any other text later. */
export function surveyJson(text: string): Survey {
  const found = { members: 0, mostMembers: 0, wideMembers: 0, depth: 0, objects: 0, lists: 0, beginnings: 0 };
  const seen = text.length < LONG_TEXT ? null : SEEN.fill(0);
  /** Of each object around the one that is open: how many members it has, and its beginning. */
  const outer: number[] = [];
  let [depth, members, beginning, nameStart, nameEnd] = [0, 0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        nameStart = i + 1;
        nameEnd = i = endOfString(text, i);
        break;
      case OPEN:
        // In JSON an object stands behind the name of a member. Of any other text the list would grow with each character.
        if (outer.length > 0 && members === 0) return found;
        outer.push(members, beginning);
        members = beginning = 0;
        found.objects++;
        if (++depth > found.depth) found.depth = depth;
        break;
      case OPEN_LIST:
        found.lists++;
        if (++depth > found.depth) found.depth = depth;
        break;
      case CLOSE:
        beginning = outer.pop() ?? 0;
        members = outer.pop() ?? 0;
        depth--;
        break;
      case CLOSE_LIST:
        depth--;
        break;
      case COLON:
        if (depth === 1) found.members++;
        if (++members > found.mostMembers) found.mostMembers = members;
        if (members > CLASS_MEMBERS) {
          found.wideMembers++;
          break;
        }
        if (seen === null) break;
        beginning = hashOf(beginning, text, nameStart, nameEnd);
        if (isNew(seen, beginning)) found.beginnings++;
        break;
    }
  }
  return found;
}

/** The bits of the beginnings that were seen in the text at hand. */
const HASH_BITS = 20;
const SEEN = new Uint8Array(2 ** HASH_BITS / 8);
/** Nobody outside can tell which beginnings have the same hash. */
const [RANDOM = 0] = crypto.getRandomValues(new Uint32Array(1));
const MULTIPLIER = RANDOM | 1;

function hashOf(before: number, text: string, start: number, end: number): number {
  let hash = before + end - start + 1;
  for (let i = start; i < end; i++) hash = Math.imul(hash + text.charCodeAt(i), MULTIPLIER);
  return Math.imul(hash, MULTIPLIER);
}

function isNew(seen: Uint8Array, hash: number): boolean {
  const at = hash >>> (32 - HASH_BITS);
  const bit = 1 << (at & 7);
  const byte = seen[at >>> 3] ?? 0;
  seen[at >>> 3] = byte | bit;
  return (byte & bit) === 0;
}

/** Short strings are most, and a search costs more than the few characters. */
const SHORT_STRING = 32;

/** The index of the quote that ends the string beginning at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  const short = Math.min(text.length, start + SHORT_STRING);
  let i = start + 1;
  for (; i < short; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i;
    if (code === BACKSLASH) i++;
  }
  // A quote behind an odd number of backslashes is one of the text.
  for (let quote = text.indexOf('"', i); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slash = quote;
    while (slash > i && text.charCodeAt(slash - 1) === BACKSLASH) slash--;
    if ((quote - slash) % 2 === 0) return quote;
  }
  return text.length;
}
