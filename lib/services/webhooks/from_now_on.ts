// From when on a webhook is told: of nothing that had happened before its owner wanted to know of it.
import { idFloor, idTime } from "../../core/ids.ts";
import type { WebhookEvent, WebhookRecord, WebhookState } from "../../store/changes_records.ts";
import { FASTER, untilCommitted } from "../../store/until_committed.ts";
import { type ChangesTarget, newestPlace } from "../changes/read_changes.ts";
import { asTold, LATE_MS, MOST_NOTED, type Told, toldFloor } from "./told_events.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** What it was told of until now, and what it is to be told of. */
export interface Wanted {
  readonly before: readonly WebhookEvent[];
  readonly after: readonly WebhookEvent[];
}

/** How far a webhook has come. */
type Progress = Told & Pick<WebhookState, "place">;

/**
 * How far it has come, as if it had been told of all that has happened so far and that it did not want to know. What it wanted
 * before still waits. Errors: those of the store, `meter_unreachable`.
 */
export async function fromNowOn(
  ctx: WebhookContext,
  target: ChangesTarget,
  { place, eventId, told, toldUntil = null }: Progress,
  { before, after }: Wanted,
): Promise<Progress> {
  const added = after.filter((one) => !before.includes(one));
  return {
    place: added.includes("change") ? await newestPlace(ctx.query, target) : place,
    ...added.some((one) => one !== "change")
      ? await passedEvents(ctx, target.databaseId, { eventId, told, toldUntil, before })
      : { eventId, told, toldUntil },
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
      isSame = state.eventId === seen.eventId && state.told.join() === seen.told.join();
      // Unless changes are added, some may have been delivered meanwhile: that place is the newer one.
      const place = passed.place === seen.place ? state.place : passed.place;
      return isSame ? { ...state, ...passed, place } : state;
    });
    // An event was delivered meanwhile.
    return isSame ? undefined : FASTER;
  });
}

async function passedEvents(
  { control }: WebhookContext,
  databaseId: string,
  { before, ...progress }: Told & Pick<Wanted, "before">,
): Promise<Told> {
  const { eventId, told, toldUntil } = progress;
  const passed: string[] = [];
  let waits = false;
  for await (const { id, event } of control.webhooks.events(databaseId, toldFloor(progress))) {
    if (before.includes(event.type) && !told.includes(id)) waits = true;
    else passed.push(id);
  }
  // Older ones than these are told then.
  if (waits) return { ...progress, told: passed.slice(-MOST_NOTED) };
  const newest = [eventId, passed.at(-1) ?? ""].toSorted().at(-1) ?? eventId;
  return asTold(newest, passed, toldUntil);
}

/**
 * The state where the clock was put back since an event was told: behind an event of a time to come those that happen now would
 * be passed over, so it is looked from now on. What was told of that time stays told. Errors: `meter_unreachable`.
 */
export async function afterPutBack(
  { control, query: { clock } }: WebhookContext,
  databaseId: string,
  state: WebhookState,
): Promise<WebhookState> {
  const nowMs = clock.now();
  if (idTime(state.eventId) <= nowMs + LATE_MS) return state;
  const told = new Set(state.told);
  for await (const { id } of control.webhooks.events(databaseId, idFloor("wev", nowMs + LATE_MS))) {
    if (id <= state.eventId && id !== state.pending?.eventId) told.add(id);
  }
  const noted = [...told].toSorted().slice(-MOST_NOTED);
  return { ...state, eventId: idFloor("wev", nowMs), told: noted, toldUntil: null };
}
