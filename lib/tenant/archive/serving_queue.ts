// Serves databases some at a time, who waits longest first: none of many waits for those that are written all the time.

/** One that waits to be served. */
export interface Waiting {
  /** When what waits longest has changed. */
  readonly sinceMs: number;
}

/** The queue. `serve` never rejects. */
export class ServingQueue<One extends Waiting> {
  #waiting: One[] = [];
  readonly #served = new Set<One>();

  constructor(private readonly atOnce: number, private readonly serve: (one: One) => Promise<void>) {}

  /** Serves these, and no longer those of the call before. One that is being served is left out. */
  set(those: readonly One[]): void {
    this.#waiting = those.filter((one) => !this.#served.has(one)).sort((a, b) => b.sinceMs - a.sinceMs);
    this.#next();
  }

  #next(): void {
    while (this.#served.size < this.atOnce) {
      const one = this.#waiting.pop();
      if (one === undefined) return;
      this.#served.add(one);
      void this.serve(one).finally(() => {
        this.#served.delete(one);
        this.#next();
      });
    }
  }
}
