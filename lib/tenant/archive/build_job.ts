// What the process that builds a file is told.

/** The base stands in `built.db`, the segments in `wal-0`, `wal-1` and so on. */
export interface BuildJob {
  /** Segments that count as a whole. */
  readonly whole: number;
  /** Segments behind them, read together, that count up to `atMs`, in unix milliseconds. */
  readonly parts: number;
  readonly atMs: number;
}
