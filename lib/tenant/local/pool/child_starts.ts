// Decides when one more engine child may be started, and whether a started one may serve: after each failed start the pause
// grows, and a child that has loaded another version of the program serves nothing.
import { reasonOf } from "../../../core/attempt.ts";
import type { Clock } from "../../../core/clock.ts";
import { AppError } from "../../../core/errors.ts";
import { type Log, quietLog } from "../../../core/log.ts";
import type { ProgramFiles } from "./program_files.ts";
import { freeProgressFile, type ProgressFile } from "./progress_files.ts";

/** Milliseconds from a failed start to the next: the first pause, and the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** The answer while no child serves and none may start. */
export function restartNeeded(): AppError {
  return new AppError("store_unavailable", {
    message: "Restart the service; the files of its program have changed since it started",
  });
}

/** What this needs of the process. */
export interface ChildStartsOptions {
  readonly runDirectory: string;
  readonly program: ProgramFiles;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts children with growing pauses after failures. */
export class ChildStarts {
  readonly #log: Log;
  #restartNeeded = false;
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
      this.failed(reasonOf(error));
      return null;
    }
  }

  /** Whether the last child that was started found other program files than this process has loaded. */
  get restartNeeded(): boolean {
    return this.#restartNeeded;
  }

  /** Whether a child that has just loaded its program may serve: the program is still that of this process. */
  mayServe(): boolean {
    const same = this.options.program.areSame();
    if (!same && !this.#restartNeeded) {
      this.options.log("error", "restart_needed", { reason: "program_files_changed" });
    }
    this.#restartNeeded = !same;
    return same;
  }

  /** Notes a failed start. `reason` is never a text of the system's, which may hold paths. */
  failed(reason: string): void {
    this.#untilMs = this.options.clock.monotonicMs() + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    // A child may also end because files are missing while an update replaces them.
    if (this.mayServe()) this.#log("error", "engine_child_not_started", { reason });
  }

  /** Notes that a child has answered, which ends the pauses. */
  worked(): void {
    if (!this.#restartNeeded) this.#pauseMs = FIRST_PAUSE_MS;
  }
}
