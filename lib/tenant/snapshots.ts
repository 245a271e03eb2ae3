// States of a database that are kept, as every store tells of them.

/** A state of a database that can be had back. */
export interface SnapshotInfo {
  readonly label: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly sizeBytes: number;
  /** Taken by the service before a destructive statement, rather than asked for. */
  readonly automatic: boolean;
}

/** How a database is made what a snapshot says. `Log` is `LogIdentity` of the tenant store. */
export interface RestoreOptions<Log> {
  /** Label of the snapshot of the state before. */
  readonly undoLabel: string;
  readonly log?: Log | undefined;
  /** `digest` of what it is to do, or `UNREADABLE_DIGEST`: judged while nobody writes. Absent: whatever it does. */
  readonly expects?: string;
}
