// Snapshots of a database, as every store reports them.

/** A snapshot: a state of a database that can be restored. */
export interface SnapshotInfo {
  readonly label: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly sizeBytes: number;
  /** The service took the snapshot before a destructive statement; nobody asked for it. */
  readonly automatic: boolean;
}

/** How a database is restored to a snapshot. `Log` is `LogIdentity` of the tenant store. */
export interface RestoreOptions<Log> {
  /** The label of the snapshot to take of the previous state. */
  readonly undoLabel: string;
  readonly log?: Log | undefined;
  /** The expected `digest` of the effect, or `UNREADABLE_DIGEST`; compared while nobody writes. Absent: any effect. */
  readonly expects?: string;
}
