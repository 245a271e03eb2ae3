// Cursors of a socket: what a batch has answered, fetched in portions.
import { AppError } from "../../core/errors.ts";
import { MAX_SOCKET_CURSORS } from "../../core/limits_hrana.ts";

interface Cursor {
  /** Null: its batch runs. */
  entries: readonly string[] | null;
  characters: number;
  at: number;
}

/** A number that is kept for the results of a batch. */
export interface ReservedCursor {
  /** Takes the results, or what says that there is no room for them. Of a cursor that was closed nobody wants either. */
  fill(entries: readonly string[], noRoom: string): void;
  /** Gives the number back: the batch has failed. */
  release(): void;
}

/** The cursors of one socket. */
export class SocketCursors {
  readonly #cursors = new Map<number, Cursor>();
  #characters = 0;

  /** `mayHold`: whether so many characters more may wait here to be fetched. */
  constructor(private readonly mayHold: (characters: number) => boolean) {}

  /** Characters of all cursors that are not fetched to their end. */
  get characters(): number {
    return this.#characters;
  }

  /**
   * To be asked before a batch runs for it: behind its commit nothing may fail that a client reads as "nothing ran", and
   * batches of other streams run meanwhile. Errors: `validation_failed` for a number in use, or too many of them.
   */
  reserve(id: number): ReservedCursor {
    if (this.#cursors.has(id) || this.#cursors.size >= MAX_SOCKET_CURSORS) {
      throw new AppError("validation_failed", {
        message: "Close a cursor first; its number is in use, or this socket has as many as it may",
      });
    }
    const cursor: Cursor = { entries: null, characters: 0, at: 0 };
    this.#cursors.set(id, cursor);
    const isKept = () => this.#cursors.get(id) === cursor;
    return {
      fill: (results, noRoom) => {
        if (!isKept()) return;
        const entries = this.mayHold(lengthOf(results)) ? results : [noRoom];
        cursor.entries = entries;
        cursor.characters = lengthOf(entries);
        this.#characters += cursor.characters;
      },
      release: () => {
        if (isKept()) this.#cursors.delete(id);
      },
    };
  }

  /** The response with the next entries. Errors: `validation_failed`. */
  fetch(id: number, count: number): string {
    const cursor = this.#cursors.get(id);
    if (!cursor?.entries) {
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
