// Values by texts that callers choose: bounded in number, and in characters of the texts, which may be long.

/** What all texts of a map may be together. */
export interface TextBounds {
  readonly texts: number;
  readonly characters: number;
}

/** A map whose oldest texts go where there are too many, or too much together. One that is too long by itself is not kept. */
export class TextMap<Value> {
  readonly #values = new Map<string, Value>();
  #characters = 0;

  constructor(private readonly most: TextBounds) {}

  get size(): number {
    return this.#values.size;
  }

  /** Of all texts together. */
  get characters(): number {
    return this.#characters;
  }

  has(text: string): boolean {
    return this.#values.has(text);
  }

  get(text: string): Value | undefined {
    return this.#values.get(text);
  }

  /** Puts a value behind all others. Returns the values that had to go. */
  put(text: string, value: Value): readonly Value[] {
    if (this.#values.delete(text)) this.#characters -= text.length;
    this.#values.set(text, value);
    this.#characters += text.length;
    const gone: Value[] = [];
    for (const [oldest, itsValue] of this.#values) {
      if (this.size <= this.most.texts && this.#characters <= this.most.characters) break;
      this.#values.delete(oldest);
      this.#characters -= oldest.length;
      gone.push(itsValue);
    }
    return gone;
  }
}
