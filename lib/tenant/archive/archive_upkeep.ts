// When the archive is rid of what nobody needs: once a day, and an hour later where the store has broken a round off.
import { reasonOf } from "../../core/attempt.ts";
import { type Clock, DAY_MS, HOUR_MS } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ObjectStore } from "../object_store.ts";
import { believedMs, pruneArchive } from "./prune_archive.ts";
import type { StoreWatch } from "./store_watch.ts";

/** Milliseconds until a round that was broken off is begun again: each lists all objects. */
const AGAIN_MS = HOUR_MS;

/** What this needs of the archive. */
export interface ArchiveUpkeepOptions {
  readonly store: ObjectStore;
  readonly watch: StoreWatch;
  readonly clock: Clock;
  readonly log: Log;
  /** Days that a moment can be restored. */
  readonly keepDays: number;
  /** Whether the installation has the database still. */
  readonly isKnown: (databaseId: string) => Promise<boolean>;
}

/** The upkeep of one archive. */
export class ArchiveUpkeep {
  #dueMs = -Infinity;

  constructor(private readonly options: ArchiveUpkeepOptions) {}

  /** Begins a round where one is due. */
  beginIfDue(): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + DAY_MS;
    void this.#round();
  }

  async #round(): Promise<void> {
    const { store, watch, clock, log, keepDays, isKnown } = this.options;
    try {
      // Nobody removes what somebody else archives; and who has been answered has been told the time.
      await watch.ask(() => Promise.resolve());
      await store.removeUnfinished();
      await pruneArchive(store, believedMs(store, clock.now()) - keepDays * DAY_MS, isKnown);
    } catch (error) {
      log("warn", "archive_not_pruned", { reason: reasonOf(error) });
      // A damaged object is as damaged in an hour, and everything else has been looked at.
      if (!(error instanceof AppError)) this.#dueMs = clock.monotonicMs() + AGAIN_MS;
    }
  }
}
