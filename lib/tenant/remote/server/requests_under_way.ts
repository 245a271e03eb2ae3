// The requests of a remote store to its server: those that have not ended, and how many have, for whoever scrapes.
import { byLabel, counter, gauge, type MetricFamily } from "../../../core/metrics.ts";

/** Also those that no caller waits for. */
export class RequestsUnderWay {
  readonly #ends = new Set<Promise<void>>();
  readonly #ended = { answered: 0, failed: 0 };

  /** Has the end of the store wait for the work, which may go on though its caller does not wait for it any more. */
  note<T>(work: Promise<T>): Promise<T> {
    const noted: Promise<void> = work.then(() => void this.#ended.answered++, () => void this.#ended.failed++)
      .finally(() => this.#ends.delete(noted));
    this.#ends.add(noted);
    return work;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Resolves when all have ended that are under way now. */
  async end(): Promise<void> {
    await Promise.all(this.#ends);
  }

  families(): MetricFamily[] {
    return [
      counter(
        "remote_requests",
        "Requests to the server of the databases; a statement's failure is an answer",
        byLabel("outcome", this.#ended),
      ),
      gauge(
        "remote_requests_under_way",
        "Requests to the server of the databases that have not ended",
        this.size,
      ),
    ];
  }
}
