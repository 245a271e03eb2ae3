// What a call does to rows and tables, in a form that lets two runs be compared; an approval is bound to it. A row is
// identified by its key and by all its values before and after; the order of changes does not matter. Every store notes
// row changes in the same form.

/** The footprint of one run of a call. */
export interface Footprint {
  /** The secret salt of the digests: without it nobody can search for other rows with the same digest. */
  readonly salt: string;
  /** Digest of the tables and views behind the names: their definitions and their identity in the catalogue. */
  readonly tables: string;
  /** Null: the row changes are unknown, for example because the time was up. */
  readonly rows: RowsFootprint | null;
}

/** The row changes of a run, as counts and digests. */
export interface RowsFootprint {
  /** Changes of single rows; a row that changes twice counts twice. */
  readonly changes: number;
  /** Digest of all changes; null where there are more than `MAX_DIGESTED_ROWS`. */
  readonly digest: string | null;
  /** Digest of the keys of all changed rows, however many. */
  readonly keys: string;
  /**
   * For each change `KEY_BYTES` of its key's digest and `CHANGE_BYTES` of its own digest, in base64. Null: not asked for,
   * or too many changes.
   */
  readonly each: string | null;
}

/** What a run has to report about its row changes, and what they are expected to be. */
export interface FootprintAsk {
  readonly salt: string;
  /** Names of the tables and views that the call touches. */
  readonly tables: readonly string[];
  /** The tables in which conflicts may remove rows. */
  readonly replaced: readonly string[];
  readonly each: boolean;
  /** The call is undone unless its footprint is this one; null: any footprint is accepted. */
  readonly expects: { readonly footprint: Footprint; readonly tolerance: number } | null;
}

/** Up to this many row changes are compared by all their values; more are compared by their keys. */
export const MAX_DIGESTED_ROWS = 100_000;
/** Bytes of a key's digest in `each`. A collision can only stop a call, never let one through. */
export const KEY_BYTES = 8;
/** Bytes of a change's own digest in `each`. */
export const CHANGE_BYTES = 16;

/** Whether row changes are not asked for, because the earlier run did not know them either. */
export function isUnknown({ expects }: FootprintAsk): boolean {
  return expects !== null && expects.footprint.rows === null;
}

/** Makes a salt for the footprints that are to be compared with one another. */
export function newSalt(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/**
 * Whether a call makes the same changes as before, to the same tables and rows. Up to `tolerance` rows may have come or
 * gone; a row of both runs must change in the same way.
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

/** Counts rows that only one run changes; infinite where the runs change the same row differently. */
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

/**
 * What a note records. `begins`: a row is about to be inserted; `key` is `1` where the engine makes its key. `replaced`: a
 * row conflicts with one to be inserted. `whole`: one row of a table that is recorded completely, before or after.
 */
export type NoteKind = "begins" | "insert" | "update" | "delete" | "replaced" | "whole";

/** One note: the key and the other values as texts, before and after; null where there are none. */
export interface RowNote {
  readonly table: string;
  readonly kind: NoteKind;
  readonly keyBefore: string | null;
  readonly before: string | null;
  readonly keyAfter: string | null;
  readonly after: string | null;
}

/** Marks the value of a column whose default is the present time. */
export const TIME_MARK = "@";

/** Reads a note from a store's values: table, kind and four texts, in this order. */
export function readNote(values: readonly unknown[]): RowNote {
  const texts = values.map((value) => value === null ? null : String(value));
  const [table, kind, keyBefore = null, before = null, keyAfter = null, after = null] = texts;
  return { table: table ?? "", kind: kindOf(kind), keyBefore, before, keyAfter, after };
}

/** Guarantee: only the triggers and queries of `row_notes.ts` make notes. */
function kindOf(text: string | null | undefined): NoteKind {
  return text as NoteKind;
}
