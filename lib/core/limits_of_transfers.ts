// Numbers that bound exports and imports, each with its unit and its reason.

/** Bounds of exports. */
export const exportLimits = {
  /** Milliseconds that the copy of an export is kept, so that a broken download can go on. */
  keepMs: 3_600_000,
  /** Copies kept of one database, and by one process: each may be as large as its database. The oldest go first. */
  keptOfDatabase: 3,
  kept: 32,
  /** Children at work in one process: each takes a processor and up to 400 MB. */
  running: 4,
  runningOfNamespace: 2,
  /** Milliseconds that a client may take nothing before the export ends. */
  stalledMs: 120_000,
} as const;
