// Splits what is read or written together into requests of a bounded size.

/** The most changes that are read and written together, and about how many bytes of rows. */
const CHANGES_AT_ONCE = 500;
export const BYTES_AT_ONCE = 1_000_000;

/** The changes, in their order, in as few requests as that allows. */
export function* inParts<T>(all: readonly T[], bytesOf: (one: T) => number): Generator<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const one of all) {
    if (part.length >= CHANGES_AT_ONCE || (part.length > 0 && bytes + bytesOf(one) > BYTES_AT_ONCE)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += bytesOf(one);
  }
  if (part.length > 0) yield part;
}
