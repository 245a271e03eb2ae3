// Connections become sockets one after the other. In a burst the runtime (2.9) may report the end of a connection's server before
// the socket that has come of it, and then ends that too: it was 8 of 1,000 of a hundred at once, and none in turns.

/** Milliseconds after which the next one goes on: a client that does not take the answer must not keep others waiting. */
const MAX_TURN_MS = 100;

/** Whose turn it is. */
export class UpgradeTurns {
  #last: Promise<void> = Promise.resolve();

  /** Settles when it is the caller's turn; what it answers ends that. */
  async take(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const timer = setTimeout(resolve, MAX_TURN_MS);
    return () => {
      clearTimeout(timer);
      resolve();
    };
  }
}
