// Tells two sets of changed rows apart by all that is in them, however many there are.
import { createHash } from "node:crypto";
import type { RowChange } from "./row_change.ts";
import type { Row } from "./work.ts";

/** SHA-256 over the changes in the order in which a comparison finds them. */
export class ChangesDigest {
  readonly #hash = createHash("sha256");

  add({ kind, before, after }: RowChange): void {
    this.#hash.update(`${kind}\n`);
    for (const row of [before, after]) this.#row(row ?? []);
  }

  get hex(): string {
    return this.#hash.digest("hex");
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
