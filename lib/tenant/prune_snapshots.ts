// Decides which snapshots of a database are deleted: those whose time is over, and those beyond the allowed number.
import type { SnapshotInfo } from "./snapshots.ts";

/** Snapshots kept of one database. */
const MAX_KEPT = 50;
/**
 * The newest automatic ones stay, however many have a caller's label: what an answer has just named as the way back, the
 * undo of a restore too, must be there.
 */
const NEWEST_KEPT = 10;
/** Milliseconds within which a successor makes an automatic snapshot the first to go. */
const CLOSE_MS = 60_000;

/**
 * Of too many, automatic ones with a successor less than a minute younger go first, then the oldest automatic ones, then
 * the oldest with a caller's label; the newest ten automatic ones stay. `kept` is in the order given.
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
