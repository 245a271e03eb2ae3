// Cursors of a socket: what a batch has answered, fetched in portions.
import { AppError } from "../../core/errors.ts";
import { MAX_SOCKET_CURSORS } from "../../core/limits_hrana.ts";

/** The cursors of one socket. */
export class SocketCursors {
  readonly #cursors = new Map<number, { entries: readonly string[]; characters: number; at: number }>();
  #characters = 0;

  /** `mayHold`: whether so many characters more may wait here to be fetched. */
  constructor(private readonly mayHold: (characters: number) => boolean) {}

  /** Characters of all cursors that are not fetched to their end. */
  get characters(): number {
    return this.#characters;
  }

  /** Errors: `validation_failed` for a number in use, too many of them, or too much in them. */
  open(id: number, entries: readonly string[]): void {
    this.requireFree(id);
    const characters = lengthOf(entries);
    if (!this.mayHold(characters)) {
      throw new AppError("validation_failed", {
        message: "Fetch or close a cursor first; those that are open hold as much as they may",
      });
    }
    this.#cursors.set(id, { entries, characters, at: 0 });
    this.#characters += characters;
  }

  /** To be asked before a batch runs for it. Errors: as `open`. */
  requireFree(id: number): void {
    if (!this.#cursors.has(id) && this.#cursors.size < MAX_SOCKET_CURSORS) return;
    throw new AppError("validation_failed", {
      message: "Close a cursor first; its number is in use, or this socket has as many as it may",
    });
  }

  /** The response with the next entries. Errors: `validation_failed`. */
  fetch(id: number, count: number): string {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) {
      throw new AppError("validation_failed", {
        message: "Open the cursor first; there is none with this number",
      });
    }
    const entries = cursor.entries.slice(cursor.at, cursor.at + count);
    cursor.at += entries.length;
    const done = cursor.at >= cursor.entries.length;
    if (done) {
      this.#characters -= cursor.characters;
      this.#cursors.set(id, { entries: [], characters: 0, at: 0 });
    }
    return `{"type":"fetch_cursor","entries":[${entries.join(",")}],"done":${done}}`;
  }

  close(id: number): void {
    this.#characters -= this.#cursors.get(id)?.characters ?? 0;
    this.#cursors.delete(id);
  }

  clear(): void {
    this.#characters = 0;
    this.#cursors.clear();
  }
}

function lengthOf(entries: readonly string[]): number {
  return entries.reduce((sum, { length }) => sum + length, 0);
}
