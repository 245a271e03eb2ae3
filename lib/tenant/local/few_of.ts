// A set for few objects that come and go all the time, in an object that stays. A `Set` makes itself a new table whenever it
// runs empty or full of deleted entries. The table before goes on to refer to what was in it and to the new one, and V8, which
// collects young objects without looking whether old ones are in use, keeps all of that until it marks everything.

/** Its items are few: it looks through all of them. */
export class FewOf<Item> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (!this.#items.includes(item)) this.#items.push(item);
  }

  /** Whether it was there. */
  delete(item: Item): boolean {
    const at = this.#items.indexOf(item);
    if (at >= 0) this.#items.splice(at, 1);
    return at >= 0;
  }

  clear(): void {
    this.#items.length = 0;
  }

  /** Must not be changed meanwhile. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#items.values();
  }
}
