// Bounds what namespaces ask of the operator's language model, which the operator pays for and all namespaces share: each time is
// paid as a request before it is asked, counted by the day, and few are under way at once.
import type { Meter } from "../../../control/balance/meter.ts";
import type { RateCounters } from "../../../control/rate_counters.ts";
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { checkRate } from "../../../guard/rate_limit.ts";
import { Bill, type Payer } from "../../../query/bill.ts";
import type { AskModel, AskProposal, AskRequest } from "./ask_model.ts";

/** Questions that are with the server, of this process and of one namespace: one of them waits for up to `ASK_TIMEOUT_MS`. */
const AT_ONCE = 64;
const AT_ONCE_OF_NAMESPACE = 16;

/** What bounds take of the process. */
export interface ModelBounds {
  readonly meter: Meter;
  readonly rateCounters: RateCounters;
  readonly clock: Clock;
  /** Times that one namespace may have the server asked in a UTC day. */
  readonly perDay: number;
}

/** A model whose server somebody pays for. */
export class BoundedModel implements AskModel {
  /** By namespace. */
  readonly #asking = new Map<string, number>();
  #all = 0;

  constructor(private readonly model: AskModel, private readonly bounds: ModelBounds) {}

  get repairs(): boolean {
    return this.model.repairs;
  }

  /**
   * Errors: `ask_unavailable` also where too many questions are under way; `rate_limited`, and those of a reservation of money, before
   * anything is sent.
   */
  async propose(request: AskRequest): Promise<AskProposal> {
    const { payer } = request;
    const { namespaceId } = payer;
    if (this.#all >= AT_ONCE || (this.#asking.get(namespaceId) ?? 0) >= AT_ONCE_OF_NAMESPACE) {
      throw new AppError("ask_unavailable", {
        message: "Try again shortly; as many questions are with the language model as may be",
      });
    }
    this.#count(namespaceId, 1);
    try {
      await this.#countOfDay(namespaceId);
      await this.#pay(payer);
      return await this.model.propose(request);
    } finally {
      this.#count(namespaceId, -1);
    }
  }

  async #countOfDay(namespaceId: string): Promise<void> {
    const { rateCounters, clock, perDay } = this.bounds;
    const subject = { databaseId: namespaceId, slug: "ask", client: "" };
    const { admitted, retryAfterSec } = await checkRate(rateCounters, subject, {
      limit: { perDay },
      nowMs: () => clock.now(),
    });
    if (admitted) return;
    const message = "Ask tomorrow; the language model has been asked as often today as it may be";
    throw new AppError("rate_limited", { message, retryAfterSec });
  }

  /** Before it is asked: a question from which no statement comes is paid too, and nobody holds money while the server thinks. */
  async #pay(payer: Payer): Promise<void> {
    const bill = new Bill(this.bounds.meter, payer);
    await bill.reserve("reads");
    bill.settle({ rowsRead: 0, rowsWritten: 0 });
  }

  #count(namespaceId: string, change: 1 | -1): void {
    this.#all += change;
    const asking = (this.#asking.get(namespaceId) ?? 0) + change;
    if (asking > 0) this.#asking.set(namespaceId, asking);
    else this.#asking.delete(namespaceId);
  }
}
