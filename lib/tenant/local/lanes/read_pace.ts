// How long reads of one database take, and into how many groups those that wait are put.

/** So many reads at a time, each of which takes a child less than the service itself, are better off in one group. */
const MANY_CALLS = 12;
const QUICK_CALL_MS = 0.04;

/** The pace of a database's reads. */
export class ReadPace {
  /** Milliseconds that a read takes a child, in the mean of the last ones. */
  #callMs = 0;

  /** Notes how long a group of reads took. */
  note(tookMs: number, calls: number): void {
    this.#callMs += (tookMs / calls - this.#callMs) / 8;
  }

  /** Groups of quick reads at once: while the service answers one and hears of the next calls, the child has the other. */
  groups(waiting: number): number {
    return waiting >= MANY_CALLS && this.#callMs < QUICK_CALL_MS ? 1 : 2;
  }
}
