// From when on a webhook is told: of nothing that had happened before its owner wanted to know of it.
import { idFloor, idTime } from "../../core/ids.ts";
import type { WebhookEvent, WebhookRecord, WebhookState } from "../../store/changes_records.ts";
import { FASTER, untilCommitted } from "../../store/until_committed.ts";
import { type ChangesTarget, newestPlace } from "../changes/read_changes.ts";
import { LATE_MS } from "./next_message.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** Events that are noted as told one by one: a record of KV has room for two thousand. Older ones than these are told then. */
const MOST_NOTED = 1000;

/** What it was told of until now, and what it is to be told of. */
export interface Wanted {
  readonly before: readonly WebhookEvent[];
  readonly after: readonly WebhookEvent[];
}

/** How far a webhook has come. */
type Progress = Pick<WebhookState, "place" | "eventId" | "told">;

/**
 * How far it has come, as if it had been told of all that has happened so far and that it did not want to know. What it wanted
 * before still waits. Errors: those of the store, `meter_unreachable`.
 */
export async function fromNowOn(
  ctx: WebhookContext,
  target: ChangesTarget,
  { place, eventId, told }: Progress,
  { before, after }: Wanted,
): Promise<Progress> {
  const added = after.filter((one) => !before.includes(one));
  return {
    place: added.includes("change") ? await newestPlace(ctx.query, target) : place,
    ...added.some((one) => one !== "change")
      ? await passedEvents(ctx, target.databaseId, { eventId, told, before })
      : { eventId, told },
  };
}

/** Leaves out, for a webhook that there is, what has happened so far of what `events` adds. Errors: as `fromNowOn`. */
export async function passOver(
  ctx: WebhookContext,
  target: ChangesTarget,
  { id, events: before }: WebhookRecord,
  events: readonly WebhookEvent[],
): Promise<void> {
  if (events.every((one) => before.includes(one))) return;
  const { webhooks } = ctx.control;
  await untilCommitted(async () => {
    const seen = await webhooks.state(id);
    if (seen === null) return;
    const passed = await fromNowOn(ctx, target, seen, { before, after: events });
    let isSame = false;
    await webhooks.changeState(id, (state) => {
      isSame = state.eventId === seen.eventId && state.told.length === seen.told.length;
      return isSame ? { ...state, ...passed } : state;
    });
    // An event was delivered meanwhile.
    return isSame ? undefined : FASTER;
  });
}

async function passedEvents(
  { control }: WebhookContext,
  databaseId: string,
  { eventId, told, before }: Omit<Progress, "place"> & Pick<Wanted, "before">,
): Promise<Omit<Progress, "place">> {
  const passed: string[] = [];
  let waits = false;
  for (let after = idFloor("wev", idTime(eventId) - LATE_MS);;) {
    const page = await control.webhooks.events(databaseId, after);
    for (const { id, event } of page) {
      if (before.includes(event.type) && !told.includes(id)) waits = true;
      else passed.push(id);
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  if (waits) return { eventId, told: passed.slice(-MOST_NOTED) };
  const newest = [eventId, passed.at(-1) ?? ""].toSorted().at(-1) ?? eventId;
  const lately = idFloor("wev", idTime(newest) - LATE_MS);
  return { eventId: newest, told: passed.filter((id) => id > lately) };
}
