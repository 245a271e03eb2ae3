// A digest of all values of a list of rows, however many there are.
import { sha256 } from "../../core/sha256.ts";
import { OddText, type StoredValue } from "../../sql/words/stored_text.ts";
import { boundValue } from "./stored_values.ts";
import type { Row } from "./work.ts";

/** SHA-256 of the rows in the order in which they are added. */
export class RowsDigest {
  readonly #hash = sha256();

  /** Adds rows that belong together, after one line that says what they are. */
  add(what: string, rows: readonly (Row | null)[]): void {
    this.#hash.update(`${what}\n`);
    for (const row of rows) this.#row(row ?? []);
  }

  /** The digest of the rows added so far. */
  get hex(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Writes each value with its type and length, so that one value cannot be read as two. */
  #row(row: Row): void {
    this.#hash.update(`${row.length}\n`);
    for (const value of row) {
      const bound = boundValue(value);
      const bytes = bound instanceof Uint8Array ? bound : new TextEncoder().encode(String(bound));
      this.#hash.update(`${typeOf(value)} ${bytes.length}\n`).update(bytes);
    }
  }
}

function typeOf(value: StoredValue): string {
  if (value instanceof OddText) return "string";
  return value === null ? "null" : value instanceof Uint8Array ? "blob" : typeof value;
}
