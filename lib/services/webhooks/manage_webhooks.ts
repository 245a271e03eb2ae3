// Adds, lists, changes, deletes, tests and repeats the webhooks of a database.
import { HOUR_MS } from "../../core/clock.ts";
import { requireFresh } from "../../access/caller.ts";
import type { QueryContext } from "../../query/query_call.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { idFloor, newId } from "../../core/ids.ts";
import { MAX_WEBHOOKS } from "../../core/limits_of_changes.ts";
import { refusalOf } from "../../guard/post_public.ts";
import type { WebhookEvent, WebhookRecord, WebhookState } from "../../store/changes_records.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { Also } from "../../store/until_committed.ts";
import { beginningOf, placeOfId } from "../changes/change.ts";
import { type DatabaseAddress, requireDatabase, trunkTarget } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";
import { withAct } from "../note_act.ts";
import { send } from "./deliver_next.ts";
import { fromNowOn, passOver } from "./from_now_on.ts";
import { messageOf, newSecret } from "./message.ts";
import { type DeliveryView, shownDelivery, viewOf, type WebhookView } from "./webhook_view.ts";
import type { WebhookDeliverer } from "./webhook_deliverer.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** Milliseconds that a former secret still signs beside the new one. */
const ROTATION_MS = 24 * HOUR_MS;

/** What the services for webhooks need of a request. */
export interface WebhooksContext extends ManageContext {
  readonly query: QueryContext;
  readonly sending: WebhookContext;
  readonly deliverer: WebhookDeliverer;
}

/** What its owner decides. */
export interface WebhookSettings {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly tables: readonly string[] | null;
}

/** One webhook of a database. */
export interface WebhookAddress extends DatabaseAddress {
  readonly webhookId: string;
}

/** In the order of their creation. Errors: those of `requireDatabase`. */
export async function listWebhooks(ctx: WebhooksContext, address: DatabaseAddress): Promise<WebhookView[]> {
  const { id } = await requireDatabase(ctx, address);
  const records = await ctx.control.webhooks.list(id);
  return await Promise.all(records.map((record) => viewOf(ctx.control, record)));
}

/**
 * Adds a webhook, which is told of what happens from now on; the answer has its secret. Errors: `sign_in_again`,
 * `validation_failed`, those of `requireDatabase`.
 */
export async function addWebhook(
  ctx: WebhooksContext,
  address: DatabaseAddress,
  settings: WebhookSettings,
): Promise<{ id: string; secret: string }> {
  const database = await requireDatabase(ctx, address);
  requireFresh(ctx.caller, ctx.clock.now());
  requireUrl(ctx, settings.url);
  const now = ctx.clock.now();
  const id = newId("whk", now);
  const secret = newSecret();
  const record: WebhookRecord = {
    ...settings,
    id,
    enabled: true,
    createdAt: now,
    namespaceId: database.namespaceId,
    databaseId: database.id,
    secrets: [{ secret, untilMs: null }],
  };
  const beginning = { place: beginningOf(database.id), eventId: idFloor("wev", now), told: [] };
  const wanted = { before: [], after: settings.events };
  const target = trunkTarget(database, address.namespaceSlug, "read");
  const state: WebhookState = {
    ...await fromNowOn(ctx.sending, target, beginning, wanted),
    pending: null,
    tries: 0,
    nextMs: 0,
    ended: null,
    deliveries: [],
  };
  if (!await ctx.control.webhooks.add(record, state, withWebhook(ctx, "webhook.created", database, id))) {
    throw invalidInput("url", `Delete a webhook first; a database has at most ${MAX_WEBHOOKS}`);
  }
  await ctx.deliverer.sweep();
  return { id, secret };
}

/** What changes; `rotateSecret`: the answer has a new secret, and the former one signs too for a day. */
export type WebhookChange = Partial<WebhookSettings> & {
  readonly enabled?: boolean;
  readonly rotateSecret?: boolean;
};

/** Errors: `sign_in_again`, `validation_failed`, `webhook_not_found`, those of `requireDatabase`. */
export async function changeWebhook(
  ctx: WebhooksContext,
  address: WebhookAddress,
  { rotateSecret = false, ...change }: WebhookChange,
): Promise<WebhookView & { readonly secret?: string }> {
  const database = await requireDatabase(ctx, address);
  requireFresh(ctx.caller, ctx.clock.now());
  const webhook = await webhookOf(ctx, database, address);
  if (change.url !== undefined) requireUrl(ctx, change.url);
  // Before anything of it is sent.
  const target = trunkTarget(database, address.namespaceSlug, "read");
  await passOver(ctx.sending, target, webhook, change.events ?? webhook.events);
  const now = ctx.clock.now();
  const secret = newSecret();
  // A message has one content under its id. Of events that are not wanted any more none is sent, under whatever id.
  const givesUp = change.tables !== undefined;
  const also = withWebhook(ctx, "webhook.changed", database, address.webhookId);
  const changed = await ctx.control.webhooks.change(database.id, address.webhookId, (current) => {
    const [newest] = current.secrets;
    const former = newest ? [{ ...newest, untilMs: now + ROTATION_MS }] : [];
    const secrets = rotateSecret ? [{ secret, untilMs: null }, ...former] : current.secrets;
    return { ...current, ...change, secrets };
  }, { givesUp, also });
  if (changed === null) throw new AppError("webhook_not_found");
  await ctx.deliverer.sweep();
  ctx.deliverer.changed(database.id);
  const view = await viewOf(ctx.control, changed);
  return rotateSecret ? { ...view, secret } : view;
}

/** Errors: `sign_in_again`, `webhook_not_found`, those of `requireDatabase`. */
export async function deleteWebhook(ctx: WebhooksContext, address: WebhookAddress): Promise<{ id: string }> {
  const database = await requireDatabase(ctx, address);
  requireFresh(ctx.caller, ctx.clock.now());
  const act = withWebhook(ctx, "webhook.deleted", database, address.webhookId);
  const removed = await ctx.control.webhooks.remove(database.id, address.webhookId, act);
  if (!removed) throw new AppError("webhook_not_found");
  return { id: address.webhookId };
}

/** Sends a test message once, and tells its outcome. Errors: `webhook_not_found`, `webhooks_busy`, those of `requireDatabase`. */
export async function testWebhook(
  ctx: WebhooksContext,
  address: WebhookAddress,
): Promise<DeliveryView> {
  const { webhook } = await requireWebhook(ctx, address);
  const now = ctx.clock.now();
  const { namespaceSlug: namespace, slug: database } = address;
  const message = messageOf({ id: newId("msg", now), at: now }, "test", { namespace, database });
  const sent = await ctx.deliverer.withRoom(webhook.namespaceId, () => send(ctx.sending, webhook, message));
  return shownDelivery(sent.delivery);
}

/**
 * Tries again now what waits, also where nothing was sent any more. `since`: what came behind that change is sent again, in
 * new messages. Errors: `validation_failed`, `webhook_not_found`, those of `requireDatabase`.
 */
export async function redeliver(
  ctx: WebhooksContext,
  address: WebhookAddress,
  since: string | null,
): Promise<WebhookView> {
  const { webhook, database } = await requireWebhook(ctx, address);
  const place = since === null ? null : placeOfId(since);
  if (since !== null && place === null) throw invalidInput("since", "Send the id of a change as it came");
  const again = { tries: 0, nextMs: 0, ended: null };
  await ctx.control.webhooks.changeState(webhook.id, (state): WebhookState => ({
    ...state,
    ...again,
    ...(place === null ? {} : { place, pending: null }),
  }), withWebhook(ctx, "webhook.redelivered", database, webhook.id));
  ctx.deliverer.changed(database.id);
  return await viewOf(ctx.control, webhook);
}

async function requireWebhook(
  ctx: WebhooksContext,
  address: WebhookAddress,
): Promise<{ webhook: WebhookRecord; database: DatabaseRecord }> {
  const database = await requireDatabase(ctx, address);
  return { webhook: await webhookOf(ctx, database, address), database };
}

async function webhookOf(
  { control }: WebhooksContext,
  { id }: DatabaseRecord,
  { webhookId }: WebhookAddress,
): Promise<WebhookRecord> {
  const webhook = await control.webhooks.find(id, webhookId);
  if (webhook === null) throw new AppError("webhook_not_found");
  return webhook;
}

function requireUrl({ sending }: WebhooksContext, text: string): void {
  const url = URL.parse(text);
  const refusal = url === null ? "it is no URL" : refusalOf(url, sending);
  if (refusal === null) return;
  const way = url !== null && refusalOf(url, { allowPrivate: true }) === null
    ? "; a service that is started with WEBHOOKS_PRIVATE=1 takes it"
    : "";
  throw invalidInput("url", `Send the address of a receiver on the public network; ${refusal}${way}`);
}

function withWebhook(
  ctx: WebhooksContext,
  action: "webhook.created" | "webhook.changed" | "webhook.deleted" | "webhook.redelivered",
  { namespaceId, slug }: DatabaseRecord,
  target: string,
): Also {
  return withAct(ctx, action, { namespaceId, database: slug, target });
}
