// Which snapshots of a database go: those whose time is over, and what is above the number that is kept (contract 6).
import type { SnapshotInfo } from "./tenant_store.ts";

/** Snapshots kept of one database. */
const MAX_KEPT = 50;
/** Milliseconds within which a successor makes an automatic snapshot the first to go. */
const CLOSE_MS = 60_000;

/**
 * Of too many, automatic ones with a successor less than a minute younger go first, then the oldest automatic ones,
 * then those with a caller's label.
 */
export function snapshotsToDrop<Snapshot extends SnapshotInfo>(
  snapshots: readonly Snapshot[],
  { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
): Snapshot[] {
  const dropped = snapshots.filter((one) => nowMs - one.createdAt > keepMs);
  const kept = snapshots.filter((one) => !dropped.includes(one)).sort((a, b) => a.createdAt - b.createdAt);
  while (kept.length > MAX_KEPT) {
    const crowded = kept.findIndex((one, at) =>
      one.automatic && (kept[at + 1]?.createdAt ?? Infinity) - one.createdAt < CLOSE_MS
    );
    const automatic = crowded >= 0 ? crowded : kept.findIndex((one) => one.automatic);
    dropped.push(...kept.splice(Math.max(0, automatic), 1));
  }
  return dropped;
}
