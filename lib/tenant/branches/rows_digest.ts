// Tells two lists of rows apart by all that is in them, however many there are.
import { createHash } from "node:crypto";
import type { Row } from "./work.ts";

/** SHA-256 over the rows in the order in which they are found. */
export class RowsDigest {
  readonly #hash = createHash("sha256");

  /** Rows that belong together, and in one line what they are. */
  add(what: string, rows: readonly (Row | null)[]): void {
    this.#hash.update(`${what}\n`);
    for (const row of rows) this.#row(row ?? []);
  }

  /** Of the rows so far. */
  get hex(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Each value with its type and its length, so that none can pass for two. */
  #row(row: Row): void {
    this.#hash.update(`${row.length}\n`);
    for (const value of row) {
      const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(String(value));
      const type = value === null ? "null" : value instanceof Uint8Array ? "blob" : typeof value;
      this.#hash.update(`${type} ${bytes.length}\n`).update(bytes);
    }
  }
}
