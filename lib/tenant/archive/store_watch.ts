// Whether the archive's store answers, and whether this process still is the one that writes there.
import type { StoreTrust } from "../moment_archive.ts";
import { reasonOf } from "../../core/attempt.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { ArchiveOwner } from "./archive_owner.ts";

/** Milliseconds after which a store that did not answer is asked again, and between two looks at who owns the prefix. */
const AGAIN_MS = 5000;
const OWNER_MS = 60_000;

/** What this needs. */
export interface StoreWatchOptions {
  readonly owner: ArchiveOwner;
  readonly clock: Clock;
  readonly log: Log;
}

/** Every request to the store goes through this. */
export class StoreWatch {
  #awayUntilMs = -Infinity;
  #isAway = false;
  #ownerSeenMs = -Infinity;
  #owns = true;

  constructor(private readonly options: StoreWatchOptions) {}

  /** Why the archive falls behind; null: it does not. */
  get strain(): "archive_away" | "archive_taken" | null {
    if (!this.#owns) return "archive_taken";
    return this.#isAway ? "archive_away" : null;
  }

  /**
   * Asks the store, unless it has just not answered, and notes whether it does. `owner_looked_up`: for work whose objects would
   * take the place of a new owner's, who owns the store is looked up right before.
   */
  async ask(work: () => Promise<void>, trust: StoreTrust = "owner_remembered"): Promise<void> {
    const { clock, log, owner } = this.options;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#awayUntilMs) throw new StoreAway();
    try {
      if (trust === "owner_looked_up" || this.#isAway || nowMs - this.#ownerSeenMs > OWNER_MS) {
        const owns = await owner.holds();
        if (!owns && this.#owns) log("error", "archive_taken", {});
        this.#owns = owns;
        this.#ownerSeenMs = nowMs;
      }
      if (!this.#owns) throw new StoreAway();
      await work();
      if (this.#isAway) log("info", "archive_back", {});
      this.#isAway = false;
    } catch (error) {
      if (!(error instanceof StoreAway)) {
        if (!this.#isAway) log("warn", "archive_away", { reason: reasonOf(error) });
        this.#isAway = true;
        this.#awayUntilMs = clock.monotonicMs() + AGAIN_MS;
      }
      throw error;
    }
  }
}

/** The store did not answer a moment ago, or is somebody else's. */
class StoreAway extends Error {
  /** What logs give as the reason. */
  override readonly name = "StoreAway";
}
