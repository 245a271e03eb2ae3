// How stores report databases that cannot be read, and a damaged file that a restore has set aside.

/** `corrupt`: the file is damaged or missing; a restore brings a snapshot back. `unavailable`: the state is unknown now. */
export type DatabaseState = "ok" | "corrupt" | "unavailable";

/** The storage of a database, reported without asking its engine. */
export interface DatabaseStorage {
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

/** What a restore did with the previous state. */
export interface Restored {
  /** False: the previous state could not be read, so there is no snapshot of it. */
  readonly undo: boolean;
  /** The name of the damaged file that was set aside; null where no file was there or it was sound. */
  readonly setAside: string | null;
}

/** Makes the name of a damaged file, such as `damaged-20261122T014500123Z`; the names sort by time. */
export function damagedLabel(unixMs: number): string {
  return `damaged-${new Date(unixMs).toISOString().replaceAll(/[-:.]/g, "")}`;
}

/** The end of the text in the restore's log row, to which its audit row points. */
export function setAsideText(label: string): string {
  return `; what was damaged is set aside as ${label}`;
}
