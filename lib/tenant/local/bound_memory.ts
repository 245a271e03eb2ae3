// Keeps what all engine children hold together within a bound: a child that is idle and large goes first, then the one
// whose read has taken the most.
import { type ChildSlot, isFree, type LaneFlight } from "./child_slot.ts";

/** Bytes from which on it is worth while to end a child: a new one takes about half of that. */
const LARGE_BYTES = 128 * 1024 * 1024;

export type Victim =
  | { readonly kind: "idle"; readonly slot: ChildSlot }
  | { readonly kind: "read"; readonly slot: ChildSlot; readonly flight: LaneFlight };

/** The child to end; null: all is well, or only writes are left, which have the bound of a single child. */
export function overMemory(slots: readonly ChildSlot[], maxBytes: number): Victim | null {
  const living = slots.filter(({ flight, leaving }) => !flight?.killed && !leaving).map((slot) => ({
    slot,
    bytes: slot.child.report(0)?.residentBytes || 0,
  }));
  if (living.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return null;
  const large = living.filter(({ bytes }) => bytes >= LARGE_BYTES).sort((a, b) => b.bytes - a.bytes);
  const idle = large.find(({ slot }) => isFree(slot));
  if (idle) return { kind: "idle", slot: idle.slot };
  for (const { slot } of large) {
    if (slot.flight && isRead(slot.flight)) return { kind: "read", slot, flight: slot.flight };
  }
  return null;
}

function isRead({ work }: LaneFlight): boolean {
  return work.kind === "read" || (work.kind === "task" && !work.holdsWriteSlot);
}
