// Runs a task while the database is open in no child and has no other work: its file may be replaced.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Request } from "./child/protocol.ts";
import type { DatabaseHost } from "./database_host.ts";
import type { DatabaseLanes } from "./lanes/database_lanes.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import type { Scheduler } from "./pool/scheduler.ts";

/** The exclusive tasks of a store. */
export class ExclusiveWork {
  constructor(
    private readonly host: Pick<DatabaseHost, "wake" | "transactions" | "willReplace" | "lookups">,
    private readonly scheduler: Pick<Scheduler, "closeEverywhere">,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits for what runs, takes open transactions away, and lets nothing else start. Errors: `database_busy` beside another
   * such task, `store_unavailable` of a database that is dropped, also meanwhile.
   */
  async run(lanes: DatabaseLanes, request: Request): Promise<ReplyFrame> {
    if (lanes.dropped) throw new AppError("store_unavailable");
    if (lanes.held) throw new AppError("database_busy");
    const { promise, resolve: release } = Promise.withResolvers<void>();
    lanes.held = true;
    lanes.released = promise;
    try {
      await this.host.transactions.endAll(lanes, "the database was replaced");
      await lanes.nothingRuns();
      const { databaseId } = lanes;
      this.host.lookups?.close(databaseId);
      await Promise.all(
        [this.scheduler, this.host.transactions].map((one) => one.closeEverywhere(databaseId)),
      );
      await this.host.willReplace(databaseId);
      const queuedMs = this.clock.monotonicMs();
      return await new Promise((resolve, reject) => {
        lanes.addTask({ request, resolve, reject, queuedMs, crashes: 0 }, "exclusive");
        this.host.wake(lanes);
      });
    } finally {
      lanes.held = false;
      release();
      this.host.wake(lanes);
    }
  }
}
