// A set that lives long and has few entries, which come and go all the time. A `Set` makes a new table when its last entry, or
// the last free place, is gone, and its former table still refers to its entries and to the new table. V8 collects young objects
// without looking whether the old objects that refer to them are in use, so former tables would keep all of them alive.

/** `add` and `delete` look through all items. */
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
