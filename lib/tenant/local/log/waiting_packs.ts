// Leaves log rows that wait to the spool's disk: in memory they would soon be too many, and in their tables each lot of a few
// rows would cost the opening of a file and two syncs.
import { attempt } from "../../../core/attempt.ts";
import { pause } from "../../../core/pause.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Log } from "../../../core/log.ts";
import type { LaneHost } from "../lanes/lane_host.ts";
import type { DatabaseLanes } from "../lanes/database_lanes.ts";
import type { LogSpool } from "./log_spool.ts";

/** Packs written in one turn of the event loop: some 0.7 ms; and databases whose files are given up in one. */
const PACKS_A_TURN = 48;
const DATABASES_A_TURN = 250;
/** Milliseconds until the next time, because packs of few rows take as much memory as others, and where it has failed. */
const NEXT_MS = 2_000;
const AGAIN_MS = 10_000;

/** What this needs of the store. */
export interface WaitingPacksOptions {
  readonly spool: LogSpool;
  readonly host: Pick<LaneHost, "lanes">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The packs in memory of all databases. */
export class WaitingPacks {
  #againMs = -Infinity;

  /** `repeat`: puts what is in no pack into the lines again. */
  constructor(
    private readonly options: WaitingPacksOptions,
    private readonly repeat: (lanes: DatabaseLanes) => void,
  ) {}

  /** Writes those of databases with rows in the spool's lines, unless that was just done; what cannot be written stays. */
  async store(): Promise<void> {
    const { clock, log } = this.options;
    if (clock.monotonicMs() < this.#againMs) return;
    this.#againMs = clock.monotonicMs() + AGAIN_MS;
    await attempt(log, "log_rows_not_packed", async () => {
      await this.#store();
      this.#againMs = clock.monotonicMs() + NEXT_MS;
    });
  }

  async #store(): Promise<void> {
    const { spool, host } = this.options;
    const packed: string[] = [];
    try {
      await spool.pack(async (store) => {
        let written = 0;
        for (const id of spool.inLines) {
          const lanes = host.lanes({ databaseId: id, namespaceId: "" });
          packed.push(id);
          do {
            if (written === PACKS_A_TURN) {
              await pause(1);
              written = 0;
            }
            written += lanes.log.storePacks(
              PACKS_A_TURN - written,
              (pack) => store(id, lanes.namespaceId, pack),
            );
          } while (written === PACKS_A_TURN);
        }
      });
    } finally {
      for (const [at, id] of packed.entries()) {
        if (at % DATABASES_A_TURN === DATABASES_A_TURN - 1) await pause(1);
        // The lanes of a database without work are forgotten: its lanes of now know which files it needs.
        const lanes = host.lanes({ databaseId: id, namespaceId: "" });
        this.repeat(lanes);
        lanes.log.releaseFiles();
      }
    }
  }
}
