// The record of one row change, the same from every store.

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
