// Decides when one more engine child may be started: after each failed start the pause grows.
import type { Clock } from "../../core/clock.ts";
import { type Log, quietLog } from "../../core/log.ts";
import { freeProgressFile, type ProgressFile } from "./progress_files.ts";

/** Milliseconds from a failed start to the next: the first pause, and the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** What this needs of the process. */
export interface ChildStartsOptions {
  readonly runDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts children with growing pauses after failures. */
export class ChildStarts {
  readonly #log: Log;
  #pauseMs = FIRST_PAUSE_MS;
  #untilMs = -Infinity;

  constructor(private readonly options: ChildStartsOptions) {
    this.#log = quietLog(options.log, options.clock, ["warn", "error"]);
  }

  /** Starts a child on a progress file that no living child uses; null where no child may start now. */
  start<T>(used: readonly number[], start: (file: ProgressFile) => T): T | null {
    const { clock, runDirectory } = this.options;
    if (clock.monotonicMs() < this.#untilMs) return null;
    try {
      return start(freeProgressFile(runDirectory, used));
    } catch (error) {
      this.failed(error instanceof Error ? error.name : "unknown");
      return null;
    }
  }

  /** Notes a failed start. `reason` is never a text of the system's, which may hold paths. */
  failed(reason: string): void {
    this.#untilMs = this.options.clock.monotonicMs() + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    this.#log("error", "engine_child_not_started", { reason });
  }

  /** Notes that a child has answered, which ends the pauses. */
  worked(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
  }
}
