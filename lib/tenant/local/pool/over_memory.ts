// Which child ends where all of them together hold too much memory.
import { LARGE_BYTES } from "./child_bounds.ts";
import type { ChildSlot, LaneFlight } from "./child_slot.ts";
import type { EngineChild } from "./engine_child.ts";
import { holdsWriteSlot } from "../lanes/jobs.ts";

/** What has to be known of a child's place in the pool. */
type HoldingSlot = Pick<ChildSlot, "leaving" | "toClose"> & {
  readonly child: Pick<EngineChild, "report">;
  readonly flight: Pick<LaneFlight, "killed" | "work"> | null;
};

/**
 * The slot of the child to end: of a large idle one first, then of the one with the largest read. Null: the memory is within
 * its bound, or only writes are left, which have the bound of a single child.
 */
export function overMemory<Slot extends HoldingSlot>(slots: readonly Slot[], maxBytes: number): Slot | null {
  const living = slots.filter(({ flight, leaving }) => !flight?.killed && !leaving).map((slot) => ({
    slot,
    bytes: slot.child.report(0)?.residentBytes || 0,
  }));
  if (living.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return null;
  const large = living.filter(({ bytes }) => bytes >= LARGE_BYTES).sort((a, b) => b.bytes - a.bytes)
    .map(({ slot }) => slot);
  return large.find(({ flight, toClose }) => flight === null && toClose.length === 0) ??
    large.find(({ flight }) => flight !== null && !holdsWriteSlot(flight)) ?? null;
}
