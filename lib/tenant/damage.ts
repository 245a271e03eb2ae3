// What stores say of databases that cannot be read, and of one that a restore has set aside.

/** `corrupt`: the file is damaged or missing, and a restore brings a snapshot back. `unavailable`: not known now. */
export type DatabaseState = "ok" | "corrupt" | "unavailable";

export interface DatabaseStorage {
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

/** What a restore has done with the state before it. */
export interface Restored {
  /** False: it could not be read, so there is no snapshot of it. */
  readonly undo: boolean;
  /** Name under which a damaged one is kept; null where nothing was there, or nothing was damaged. */
  readonly setAside: string | null;
}

/** `damaged-20261122T014500123Z`: says what it is, and sorts by time. */
export function damagedLabel(unixMs: number): string {
  return `damaged-${new Date(unixMs).toISOString().replaceAll(/[-:.]/g, "")}`;
}

/** Ends the text of the restore's log row, to which its audit row points. */
export function setAsideText(label: string): string {
  return `; what was damaged is set aside as ${label}`;
}
