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
