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
  /** For the row of `log`: those of an imported file, which are paid for. Absent: 0, a restore counts no rows. */
  readonly rowsWritten?: number | undefined;
  /** Keys under which what it has done (`Restored` as JSON) is stored with the row of `log`, so that it can be found. */
  readonly replay?: ReplayKeys | undefined;
  /** The expected `digest` of the effect, or `UNREADABLE_DIGEST`; compared while nobody writes. Absent: any effect. */
  readonly expects?: string;
}

/** The most snapshots of one database. */
const MAX_KEPT = 50;
/**
 * This many of the newest automatic snapshots always stay: an answer has just named such a snapshot as the way to undo a
 * change.
 */
const NEWEST_KEPT = 10;
/** A database with so many automatic snapshots or fewer loses labelled ones in their place: whoever may label must not take the way back. */
const AUTOMATIC_KEPT = 20;
/** Snapshots less than these milliseconds apart are of one burst. */
const CLOSE_MS = 60_000;

/**
 * Divides snapshots into those that stay (`kept`, in the given order) and those to delete. Where there are too many,
 * automatic ones of a burst are deleted first, then the oldest automatic ones, then labelled ones in the same order. Of a
 * burst its middle goes before its first, which holds what was there before it: no number of calls in a short time takes
 * that away.
 */
export function pruneSnapshots<Snapshot extends SnapshotInfo>(
  snapshots: readonly Snapshot[],
  { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
): { readonly kept: Snapshot[]; readonly dropped: Snapshot[] } {
  // Those of a clock that has been put back since are older than what came afterwards.
  const isAhead = ({ createdAt }: Snapshot) => createdAt - nowMs > CLOSE_MS;
  const left = snapshots.filter((one) => nowMs - one.createdAt <= keepMs)
    .sort((a, b) => Number(isAhead(b)) - Number(isAhead(a)) || a.createdAt - b.createdAt);
  const automatic = left.filter((one) => one.automatic);
  const labelled = left.filter((one) => !one.automatic);
  while (automatic.length + labelled.length > MAX_KEPT) {
    const mayGo = automatic.slice(0, 1 - NEWEST_KEPT);
    const middle = middleOfBurst(mayGo);
    if (middle >= 0) automatic.splice(middle, 1);
    else if (automatic.length > AUTOMATIC_KEPT) automatic.splice(leastOf(mayGo), 1);
    else labelled.splice(leastOf(labelled), 1);
  }
  const stays = new Set([...automatic, ...labelled]);
  return {
    kept: snapshots.filter((one) => stays.has(one)),
    dropped: snapshots.filter((one) => !stays.has(one)),
  };
}

/** The index of the oldest that another follows in its burst, and that follows another; -1: there is none. */
function middleOfBurst(sorted: readonly SnapshotInfo[]): number {
  return sorted.findIndex((_, at) => at > 0 && isFollowed(sorted, at - 1) && isFollowed(sorted, at));
}

/** The index of what goes first: of the middle of a burst, of the first of one, or the oldest. */
function leastOf(sorted: readonly SnapshotInfo[]): number {
  const middle = middleOfBurst(sorted);
  return middle >= 0 ? middle : Math.max(0, sorted.findIndex((_, at) => isFollowed(sorted, at)));
}

function isFollowed(sorted: readonly SnapshotInfo[], at: number): boolean {
  const [one, next] = [sorted[at], sorted[at + 1]];
  const apartMs = one && next ? next.createdAt - one.createdAt : CLOSE_MS;
  return apartMs >= 0 && apartMs < CLOSE_MS;
}
