// Numbers for the schemas that databases share, so that ten thousand databases of one schema do not hold its text each.

/** Schemas that have a number at a time. */
const MAX_SCHEMAS = 100;

/** Each schema has one number, and a number once given out never means another schema. */
export class KnownSchemas {
  /** The one that was asked for longest ago first. */
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  #last = 0;

  numberOf(text: string): number {
    const number = this.#numbers.get(text) ?? ++this.#last;
    this.#numbers.delete(text);
    this.#numbers.set(text, number);
    this.#texts.set(number, text);
    for (const [oldest, itsNumber] of this.#numbers) {
      if (this.#numbers.size <= MAX_SCHEMAS) break;
      this.#numbers.delete(oldest);
      this.#texts.delete(itsNumber);
    }
    return number;
  }

  /** Undefined: others have taken its place. */
  textOf(number: number): string | undefined {
    return this.#texts.get(number);
  }
}
