// What the process that builds a file is told.

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
