// Texts of statements that a client has stored to send them once: `store_sql`, `sql_id`, `close_sql`.
import { AppError, invalidInput } from "../../core/errors.ts";
import { MAX_STORED_CHARACTERS, MAX_STORED_TEXTS } from "../../core/limits_hrana.ts";

/** The texts of one stream, or of one socket. */
export class StoredTexts {
  readonly #texts = new Map<number, string>();
  #characters = 0;

  get size(): number {
    return this.#texts.size;
  }

  /** Of all of them together. */
  get characters(): number {
    return this.#characters;
  }

  /** Errors: `validation_failed` for a number that is in use, or texts beyond the bounds. */
  store(id: number, sql: string): void {
    if (this.#texts.has(id)) throw refused("Close the text first; its number is in use");
    if (this.#texts.size >= MAX_STORED_TEXTS || this.#characters + sql.length > MAX_STORED_CHARACTERS) {
      throw refused("Close texts that are not needed; there are as many as there may be");
    }
    this.#texts.set(id, sql);
    this.#characters += sql.length;
  }

  find(id: number): string | undefined {
    return this.#texts.get(id);
  }

  /** Closing one that is not there does nothing. */
  remove(id: number): void {
    this.#characters -= this.#texts.get(id)?.length ?? 0;
    this.#texts.delete(id);
  }

  entries(): [number, string][] {
    return [...this.#texts];
  }
}

function refused(message: string): AppError {
  return invalidInput("sql_id", message);
}
