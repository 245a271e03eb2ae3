// How large the rows may be that a dry run shows: they are part of its answer, and are kept with an approval.
import type { JsonValue, RowPreview } from "../../engine/statement_effect.ts";

/** Characters of the values of all statements of a call together. */
const MOST_SHOWN = 8 * 1024 * 1024;

/** The room of one call. */
export class PreviewRoom {
  #left = MOST_SHOWN;

  get isUsedUp(): boolean {
    return this.#left <= 0;
  }

  /** The first rows until the room is used up, at least one. */
  fit(preview: RowPreview): RowPreview {
    const { before, after } = preview;
    const rows = Math.max(before.length, after.length);
    let fitting = 0;
    for (; fitting < rows && !this.isUsedUp; fitting++) {
      this.#left -= sizeOf(before[fitting]) + sizeOf(after[fitting]);
    }
    if (fitting === rows) return preview;
    return { ...preview, before: before.slice(0, fitting), after: after.slice(0, fitting) };
  }
}

function sizeOf(row: readonly JsonValue[] = []): number {
  return row.reduce<number>((sum, value) => sum + charactersOf(value), 0);
}

function charactersOf(value: JsonValue): number {
  if (typeof value === "object" && value !== null) return value.$blob.length;
  return typeof value === "string" ? value.length : 1;
}
