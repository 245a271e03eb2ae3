// Which events a webhook has been told of: all up to an id, and single ones behind it, because events of other processes may
// come late.
import { idFloor, idTime } from "../../core/ids.ts";
import type { WebhookState } from "../../store/changes_records.ts";

/** Milliseconds that an event may come later than one with a higher id, because clocks of processes differ. */
export const LATE_MS = 60_000;
/** Events that are noted one by one: a record of KV has room for some 1800. */
export const MOST_NOTED = 1000;

/** That part of a state. */
export type Told = Pick<WebhookState, "eventId" | "told" | "toldUntil">;

/** The id behind which there may be events that it was not told of. */
export function toldFloor({ eventId, toldUntil = null }: Omit<Told, "told">): string {
  const late = idFloor("wev", idTime(eventId) - LATE_MS);
  return toldUntil !== null && toldUntil > late ? toldUntil : late;
}

/**
 * That it was told of events up to the newest, `ids`. Where these are more than can be noted one by one, what comes late has less
 * time: a record that KV does not take would have the last of them told for ever.
 */
export function asTold(eventId: string, ids: readonly string[], toldUntil: string | null = null): Told {
  const floor = toldFloor({ eventId, toldUntil });
  const noted = ids.filter((id) => id > floor).toSorted();
  const over = noted.slice(0, -MOST_NOTED);
  return { eventId, told: noted.slice(-MOST_NOTED), toldUntil: over.at(-1) ?? toldUntil };
}
