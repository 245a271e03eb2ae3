// Work of this process that goes one after the other, by what it is about.

/** Who is at work, and who waits. */
export class InTurn {
  /** Of each key, what has to end before the next work begins. */
  readonly #last = new Map<string, Promise<void>>();

  /** Does the work once all that came before under its key has ended, well or not. Errors: those of the work. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(key) === promise) this.#last.delete(key);
      resolve();
    }
  }
}
