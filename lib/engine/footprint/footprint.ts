// What a call does to rows, and to which tables, in a form in which two runs of it can be compared: an approval is bound to
// it. Rows are known by their keys and by all of their values before and after, in whatever order they were changed.

export interface Footprint {
  /** What digests are made with, told to nobody: so no rows can be found that pass for others. */
  readonly salt: string;
  /** Digest of the tables and views behind the names: their definitions, and which of all tables they are. */
  readonly tables: string;
  /** Null: what happens to rows is not known, as where the time was up. */
  readonly rows: RowsFootprint | null;
}

export interface RowsFootprint {
  /** Of single rows: one that is changed twice counts twice. */
  readonly changes: number;
  /** Of all of them; null: more than `MAX_DIGESTED_ROWS`. */
  readonly digest: string | null;
  /** Of the keys of the rows, however many. */
  readonly keys: string;
  /** Base64 of each change: `KEY_BYTES` of the digest of its key, `CHANGE_BYTES` of its own. Null: not asked for, or too many. */
  readonly each: string | null;
}

/** What a run is to tell of itself, and what it has to be. */
export interface FootprintAsk {
  readonly salt: string;
  /** Names of tables and views that the call is about. */
  readonly tables: readonly string[];
  /** Those of the tables of which conflicts may remove rows. */
  readonly replaced: readonly string[];
  readonly each: boolean;
  /** Another one than that undoes the call; null: whatever it is. */
  readonly expects: { readonly footprint: Footprint; readonly tolerance: number } | null;
}

/** Row changes that are compared by all of their values; of more the keys are. */
export const MAX_DIGESTED_ROWS = 100_000;
/** In `each`. A key that passes for another one's stops a call and lets none through. */
export const KEY_BYTES = 8;
export const CHANGE_BYTES = 16;

/** The rows are not asked for: they were not known before either. */
export function isUnknown({ expects }: FootprintAsk): boolean {
  return expects !== null && expects.footprint.rows === null;
}

/** A salt for the footprints that are to be compared with one another. */
export function newSalt(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/**
 * Whether a call does what it did before: to the same tables, and to the same rows the same. Up to `tolerance` rows may
 * have come or gone; those that are in both may have changed in nothing.
 */
export function sameFootprint(before: Footprint, now: Footprint, tolerance: number): boolean {
  if (before.tables !== now.tables) return false;
  if (before.rows === null) return true;
  if (now.rows === null) return false;
  const { rows } = before;
  if (rows.digest === now.rows.digest && rows.keys === now.rows.keys && rows.changes === now.rows.changes) {
    return true;
  }
  if (tolerance === 0 || rows.each === null || now.rows.each === null) return false;
  return rowsBetween(rows.each, now.rows.each) <= tolerance;
}

/** Rows that only one of them changes; infinite where a row of both is changed in another way. */
function rowsBetween(before: string, now: string): number {
  const [older, newer] = [changesByKey(before), changesByKey(now)];
  let alone = 0;
  for (const [key, changes] of older) {
    const others = newer.get(key);
    if (others === undefined) alone++;
    else if (others.sort().join() !== changes.sort().join()) return Infinity;
  }
  for (const key of newer.keys()) if (!older.has(key)) alone++;
  return alone;
}

function changesByKey(each: string): Map<string, string[]> {
  const bytes = Uint8Array.fromBase64(each);
  const found = new Map<string, string[]>();
  for (let at = 0; at < bytes.length; at += KEY_BYTES + CHANGE_BYTES) {
    const key = bytes.subarray(at, at + KEY_BYTES).toHex();
    const change = bytes.subarray(at + KEY_BYTES, at + KEY_BYTES + CHANGE_BYTES).toHex();
    const changes = found.get(key);
    if (changes) changes.push(change);
    else found.set(key, [change]);
  }
  return found;
}
