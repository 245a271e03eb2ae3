// What is taken down of one change of a row, the same from every store.

/**
 * `begins`: a row is about to be inserted, `key` is `1` where the engine makes its key. `replaced`: a row that stands in
 * the way of one to be inserted. `whole`: all rows of a table are taken down, before or after.
 */
export type NoteKind = "begins" | "insert" | "update" | "delete" | "replaced" | "whole";

/** One note: texts of the key and of the other values, before and after; null where there are none. */
export interface RowNote {
  readonly table: string;
  readonly kind: NoteKind;
  readonly keyBefore: string | null;
  readonly before: string | null;
  readonly keyAfter: string | null;
  readonly after: string | null;
}

/** Before the value of a column that is filled with the present time. */
export const TIME_MARK = "@";

/** From what a store has found of a note: its table, its kind and its four texts, in this order. */
export function readNote(values: readonly unknown[]): RowNote {
  const texts = values.map((value) => value === null ? null : String(value));
  const [table, kind, keyBefore = null, before = null, keyAfter = null, after = null] = texts;
  return { table: table ?? "", kind: kindOf(kind), keyBefore, before, keyAfter, after };
}

/** Guarantee: nothing but the triggers and queries of `row_notes.ts` makes notes. */
function kindOf(text: string | null | undefined): NoteKind {
  return text as NoteKind;
}
