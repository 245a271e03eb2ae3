// Cursors of a socket: what a batch has answered, fetched in portions.
import { AppError } from "../../core/errors.ts";
import { MAX_SOCKET_CURSORS } from "../../core/limits_hrana.ts";

/** The cursors of one socket. */
export class SocketCursors {
  readonly #cursors = new Map<number, { readonly entries: readonly string[]; at: number }>();

  /** Errors: `validation_failed` for a number in use, or too many of them. */
  open(id: number, entries: readonly string[]): void {
    this.requireFree(id);
    this.#cursors.set(id, { entries, at: 0 });
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
    return `{"type":"fetch_cursor","entries":[${entries.join(",")}],"done":${done}}`;
  }

  close(id: number): void {
    this.#cursors.delete(id);
  }

  clear(): void {
    this.#cursors.clear();
  }
}
