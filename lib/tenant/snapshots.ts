// Snapshots of a database, as every store reports them, and which of them are deleted.
import type { ReplayKeys } from "./stored_answer.ts";

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
  /** Keys under which what it has done (`Restored` as JSON) is stored with the row of `log`, so that it can be found. */
  readonly replay?: ReplayKeys | undefined;
  /** The expected `digest` of the effect, or `UNREADABLE_DIGEST`; compared while nobody writes. Absent: any effect. */
  readonly expects?: string;
}

/** The most snapshots of one database. */
const MAX_KEPT = 50;
/**
 * This many of the newest automatic snapshots always stay, however many have a caller's label: an answer has just named
 * such a snapshot as the way to undo a change.
 */
const NEWEST_KEPT = 10;
/** An automatic snapshot with a successor within this many milliseconds is deleted first. */
const CLOSE_MS = 60_000;

/**
 * Divides snapshots into those that stay (`kept`, in the given order) and those to delete. Where there are too many,
 * automatic ones with a successor less than a minute younger are deleted first, then the oldest automatic ones, then the
 * oldest with a caller's label. The newest ten automatic ones stay.
 */
export function pruneSnapshots<Snapshot extends SnapshotInfo>(
  snapshots: readonly Snapshot[],
  { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
): { readonly kept: Snapshot[]; readonly dropped: Snapshot[] } {
  const left = snapshots.filter((one) => nowMs - one.createdAt <= keepMs)
    .sort((a, b) => a.createdAt - b.createdAt);
  const newest = left.filter((one) => one.automatic).slice(-NEWEST_KEPT);
  const mayGo = (one: Snapshot) => one.automatic && !newest.includes(one);
  while (left.length > MAX_KEPT) {
    const crowded = left.findIndex((one, at) =>
      mayGo(one) && (left[at + 1]?.createdAt ?? Infinity) - one.createdAt < CLOSE_MS
    );
    const automatic = crowded >= 0 ? crowded : left.findIndex(mayGo);
    const oldest = automatic >= 0 ? automatic : left.findIndex((one) => !one.automatic);
    left.splice(oldest, 1);
  }
  const stays = new Set(left);
  return {
    kept: snapshots.filter((one) => stays.has(one)),
    dropped: snapshots.filter((one) => !stays.has(one)),
  };
}
