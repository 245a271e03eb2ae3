// What the process that builds a file is told, and how it ends.
import { engineFailure } from "../../engine/engine_failure.ts";

/** The base stands in `built.db`, the segments in `wal-0`, `wal-1` and so on. */
export interface BuildJob {
  /** Segments that count as a whole. */
  readonly whole: number;
  /** Sizes of groups of segments behind them, each read together, that count up to `atMs`, in unix milliseconds. */
  readonly parts: readonly number[];
  readonly atMs: number;
  /** When the file takes the place of one that is lost, unix milliseconds: its followers start over. Null: it does not. */
  readonly restartMs: number | null;
}

/** How the process ends; as the system ends one, where somebody has ended it. */
export const buildExits = { done: 0, noRoom: 2, damaged: 3 } as const;

/** Whether a disk did not take what was written to it, by the engine or past it. */
export function isFullDisk(error: unknown): boolean {
  return engineFailure(error, null).kind === "full";
}
