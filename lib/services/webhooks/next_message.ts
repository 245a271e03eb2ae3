// The next message of a webhook: one event, or up to 100 changes.
import { newId } from "../../core/ids.ts";
import type { ChangePlace } from "../../sql/service/change_rows.ts";
import type { PendingMessage, WebhookRecord, WebhookState } from "../../store/changes_records.ts";
import {
  beginningOf,
  type Change,
  concerns,
  isFormerBeginning,
  isSamePlace,
  type PlacedChange,
} from "../changes/change.ts";
import { type ChangesTarget, readChanges } from "../changes/read_changes.ts";
import { wantedTables } from "../changes/poll_changes.ts";
import { messageOf, type WebhookMessage } from "./message.ts";
import { asTold, type Told, toldFloor } from "./told_events.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** Changes of one message. */
const MOST_CHANGES = 100;

/** What to send, and what its delivery says of the state. */
export interface NextMessage {
  readonly pending: PendingMessage;
  readonly message: WebhookMessage;
  readonly delivered: Told & Pick<WebhookState, "place">;
}

/** `skipped`: there is nothing to send, and this is how far it was looked. */
export type FoundMessage = { readonly next: NextMessage } | { readonly skipped: ChangePlace | null };

/** What is to be sent next: what is being delivered already, or else events before changes. Errors: those of the store. */
export async function nextMessage(
  ctx: WebhookContext,
  webhook: WebhookRecord,
  state: WebhookState,
  target: ChangesTarget,
): Promise<FoundMessage> {
  const wantsChanges = webhook.events.includes("change");
  const { pending } = state;
  // An event can expire before it arrives, and its owner may want no changes any more: then the next one takes its turn.
  const mayBeOver = pending !== null && (pending.eventId !== null || !wantsChanges);
  const event = await nextEvent(ctx, webhook, state) ??
    (mayBeOver ? await nextEvent(ctx, webhook, { ...state, pending: null }) : null);
  if (event !== null) return { next: event };
  return wantsChanges ? await nextChanges(ctx, webhook, state, target) : { skipped: null };
}

async function nextEvent(
  { control, query: { clock } }: WebhookContext,
  { databaseId, events }: WebhookRecord,
  { pending, place, ...progress }: WebhookState,
): Promise<NextMessage | null> {
  if (pending !== null && pending.eventId === null) return null;
  if (events.every((one) => one === "change")) return null;
  const { eventId, told, toldUntil } = progress;
  for await (const { id, event } of control.webhooks.events(databaseId, toldFloor(progress))) {
    if (told.includes(id) || !events.includes(event.type)) continue;
    if (pending !== null && pending.eventId !== id) continue;
    const own = pending ?? { id: newId("msg", clock.now()), at: event.at, until: null, eventId: id };
    const newest = id > eventId ? id : eventId;
    const delivered = { place, ...asTold(newest, [...told, id], toldUntil) };
    return { pending: own, message: messageOf(own, event.type, event.data), delivered };
  }
  return null;
}

async function nextChanges(
  ctx: WebhookContext,
  { tables }: WebhookRecord,
  { pending, place, eventId, told, toldUntil = null }: WebhookState,
  target: ChangesTarget,
): Promise<FoundMessage> {
  // A webhook is of one database, so here even the former beginning tells of which.
  const from = isFormerBeginning(place) ? beginningOf(target.databaseId) : place;
  const found = await readChanges(ctx.query, target, from);
  const wanted = wantedTables(tables);
  const relevant = upTo(found, pending?.until ?? null).filter((one) => concerns(one, wanted));
  const sent = relevant.slice(0, MOST_CHANGES);
  const last = sent.at(-1);
  if (last === undefined) return { skipped: found.at(-1)?.place ?? null };
  const until = relevant.length > sent.length
    ? last.place
    : upTo(found, pending?.until ?? null).at(-1)?.place;
  const isSame = pending?.until && until && isSamePlace(pending.until, until);
  const nowMs = ctx.query.clock.now();
  const own: PendingMessage = pending && isSame ? pending : {
    id: newId("msg", nowMs),
    at: nowMs,
    until: until ?? last.place,
    eventId: null,
  };
  const changes: Change[] = sent.map(({ change }) => change);
  const { namespaceSlug: namespace, databaseSlug: database } = target;
  const message = messageOf(own, "change", { namespace, database, changes });
  return {
    next: { pending: own, message, delivered: { place: until ?? last.place, eventId, told, toldUntil } },
  };
}

/** Changes up to a place; all of them where that place is not among them any more. */
function upTo(found: readonly PlacedChange[], until: ChangePlace | null): readonly PlacedChange[] {
  const at = until === null ? -1 : found.findIndex(({ place }) => isSamePlace(place, until));
  return at < 0 ? found : found.slice(0, at + 1);
}
