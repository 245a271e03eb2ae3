// How the children are shared out between those whose work takes long and everybody else.
import type { ChildSlot } from "./child_slot.ts";
import type { DatabaseLanes } from "./database_lanes.ts";

/** Milliseconds after which a flight counts as slow: others of its child's databases look for another child. */
export const SLOW_FLIGHT_MS = 3;
/**
 * Milliseconds of processor time after which a read counts as slow work, and of the clock: it needs a place among those
 * that may go on. On a machine that is busy with other things a quick read may last long, but it does not work long.
 */
export const SLOW_READ_CPU_MS = 50;
export const SLOW_READ_MS = 1000;

/**
 * Whether a namespace has its share of children busy: half of all, the other half is for everybody else. Reads get one
 * child more, for a read without a place gives way as soon as somebody waits.
 */
export function holdsTooMany(
  slots: readonly ChildSlot[],
  { namespaceId, lane, nowMs, maxChildren }: {
    readonly namespaceId: string;
    readonly lane: "read" | "write";
    readonly nowMs: number;
    readonly maxChildren: number;
  },
): boolean {
  let slow = 0;
  for (const { flight } of slots) {
    if (flight?.lanes.namespaceId === namespaceId && nowMs - flight.startedMs >= SLOW_FLIGHT_MS) slow++;
  }
  return slow >= part(maxChildren, 2) + (lane === "read" ? 1 : 0);
}

/**
 * Whether one more slow read may go on beside those that have a place: a quarter of the children for one token, half of
 * them for one database and one namespace, all but one together. Anonymous callers count for their database only.
 */
export function mayTakePlace(
  slots: readonly ChildSlot[],
  { lanes, tokenId, maxChildren }: {
    readonly lanes: DatabaseLanes;
    readonly tokenId: string | null;
    readonly maxChildren: number;
  },
): boolean {
  const held = { token: 0, database: 0, namespace: 0, all: 0 };
  for (const { flight } of slots) {
    if (!flight?.place) continue;
    held.all++;
    if (flight.lanes.namespaceId === lanes.namespaceId) held.namespace++;
    if (flight.lanes === lanes) held.database++;
    if (tokenId !== null && flight.place.tokenId === tokenId) held.token++;
  }
  return held.token < part(maxChildren, 4) && held.database < part(maxChildren, 2) &&
    held.namespace < part(maxChildren, 2) && held.all < Math.max(1, maxChildren - 1);
}

function part(maxChildren: number, of: number): number {
  return Math.ceil(maxChildren / of);
}
