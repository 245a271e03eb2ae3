// Numbers that bound exports and imports, each with its unit and its reason.
import { HOUR_MS } from "./clock.ts";

/** Bounds of imports. */
export const importLimits = {
  /** Bytes of one file: with what is built of it and the undo it takes three times the disk. */
  fileBytes: 8 * 1024 ** 3,
  /** Bytes that an upload leaves to everybody else on the disk, and bytes of it from one look to the next. */
  leftBytes: 256 * 1024 ** 2,
  lookBytes: 16 * 1024 ** 2,
  /** Milliseconds without a byte after which an upload has ended, and bytes a second that it must have on average. */
  silentMs: 60_000,
  leastBytesPerSec: 4096,
  /** Milliseconds for a whole file: what has come of it takes the disk. */
  uploadMs: HOUR_MS,
  /** Files that one process receives at a time, and those of one namespace. */
  uploads: 16,
  uploadsOfNamespace: 4,
  /** Milliseconds that a whole file waits until it may be worked on. */
  waitMs: 600_000,
  /** Milliseconds from its start that an import which its caller has named can be asked for, and how many that have ended. */
  keepMs: HOUR_MS,
  keptEnded: 1000,
  /** Rows, and about how many bytes, of one transaction that appends. */
  rowsAtOnce: 5000,
  bytesAtOnce: 4 * 1024 * 1024,
  /** Bytes of one row of CSV or NDJSON: a little above the largest value. */
  rowBytes: 32 * 1024 * 1024,
} as const;

/** Milliseconds that a child may work on one file, or may let the client of a text wait: one that stands still does not end. */
export const CHILD_WORK_MS = HOUR_MS;

/** Bounds of exports. */
export const exportLimits = {
  /** Milliseconds that the copy of an export is kept, so that a broken download can go on. */
  keepMs: HOUR_MS,
  /** Copies kept of one database, and by one process: each may be as large as its database. */
  keptOfDatabase: 3,
  kept: 32,
  /** Children at work in one process: each takes a processor and up to 400 MB. */
  running: 4,
  runningOfNamespace: 2,
  /** Milliseconds that a client may take nothing before the export ends. */
  stalledMs: 120_000,
  /**
   * An export as text gives its place to others who find none, once it has gone on for these milliseconds and its client
   * has taken fewer bytes a second than this on average: its child waits most of the time.
   */
  slowAfterMs: 60_000,
  slowBytesPerSec: 1024 ** 2,
} as const;
