// One attempt to deliver the next message of one webhook. What is to be sent is noted before it is sent, and that it has
// arrived after its answer: so a message may come twice, under one id, and none is left out.
import { HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import type { HeldState } from "../../control/webhooks.ts";
import type { PostOutcome } from "../../guard/post_public.ts";
import type { WebhookDelivery, WebhookRecord, WebhookState } from "../../store/changes_records.ts";
import type { ChangesTarget } from "../changes/read_changes.ts";
import { signedHeaders, type WebhookMessage } from "./message.ts";
import { afterPutBack } from "./from_now_on.ts";
import { type NextMessage, nextMessage } from "./next_message.ts";
import { asTold, LATE_MS } from "./told_events.ts";
import type { WebhookContext } from "./webhook_context.ts";

/** Milliseconds that a receiver may take until the head of its answer has come. */
const SEND_MS = 10_000;
/** Milliseconds from one attempt in vain to the next; behind the last nothing is sent any more: ten tries in 75 hours. */
export const RETRY_MS: readonly number[] = [
  ...[5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS],
  ...[10 * HOUR_MS, 14 * HOUR_MS, 20 * HOUR_MS, 24 * HOUR_MS],
];
/** A receiver may ask for more patience than that, but not for more than a day: no attempt is further away. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** Attempts that are shown to the owner. */
const SHOWN_DELIVERIES = 20;
/** From so many changes of other tables on it is noted that they were looked at. */
const NOTED_SKIPS = 100;

/** Milliseconds to the next look where the store or KV did not answer, or another process delivers. */
export const AGAIN_MS = 5000;

/** What comes next: at once, in a while, or when something has happened. */
export type Delivered = { readonly again: "now" } | { readonly again: "later"; readonly ms: number } | {
  readonly again: "when_changed";
};

const NOW = { again: "now" } as const;
const WHEN_CHANGED = { again: "when_changed" } as const;

/** The webhook, as its record is now, where its database is, and how to get the lease. */
export interface Delivery {
  /** The time before the record was read: so the record is never older than the moment at which a message is due. */
  readonly nowMs: number;
  readonly webhook: WebhookRecord;
  readonly target: ChangesTarget;
  /** Null while another process delivers. */
  readonly hold: () => Promise<HeldState | null>;
}

/** Without anything to be sent nothing is written either. Errors: those of the store and of KV. */
export async function deliverNext(
  ctx: WebhookContext,
  { nowMs, webhook, target, hold }: Delivery,
): Promise<Delivered> {
  const { control: { webhooks }, query: { clock } } = ctx;
  const { value: noted, versionstamp } = await webhooks.stateEntry(webhook.id);
  if (noted === null || !webhook.enabled || noted.ended !== null) return WHEN_CHANGED;
  const waitMs = noted.nextMs - nowMs;
  // Further away it was noted by a clock that has been put back since, and not only by one that goes a little ahead.
  if (waitMs > 0 && waitMs <= MAX_RETRY_AFTER_MS + LATE_MS) return { again: "later", ms: waitMs };
  const state = await afterPutBack(ctx, webhook.databaseId, noted);
  const found = await nextMessage(ctx, webhook, state, target);
  const skipped = "skipped" in found ? found.skipped : null;
  const notesSkips = skipped !== null && skipped.seq - state.place.seq >= NOTED_SKIPS;
  if ("skipped" in found && !notesSkips) return WHEN_CHANGED;
  const held = await hold();
  if (held === null) return { again: "later", ms: AGAIN_MS };
  // Whoever had the lease has delivered it.
  if (held.entry.versionstamp !== versionstamp) return NOW;
  if ("skipped" in found) {
    await webhooks.note(held, { ...state, place: skipped ?? state.place });
    return NOW;
  }
  const { next } = found;
  // A state of before may have noted so many that there is no room for the message.
  const begun = { ...state, ...asTold(state.eventId, state.told, state.toldUntil), pending: next.pending };
  if (state.pending?.id !== next.pending.id) {
    // Read anew, because the note has changed it; where somebody else was faster, all of it begins again.
    if (await webhooks.note(held, begun)) return NOW;
    return { again: "later", ms: 100 };
  }
  const sent = await send(ctx, webhook, next.message);
  ctx.attempts[isTaken(sent.outcome) ? "delivered" : "failed"]++;
  const isNoted = await webhooks.note(held, afterSending(begun, next, sent, clock.now()));
  return isNoted ? NOW : { again: "later", ms: 100 };
}

/** An attempt and its outcome. */
export interface Sent {
  readonly delivery: WebhookDelivery;
  readonly outcome: PostOutcome;
}

/** Sends a message once. Never throws. */
export async function send(
  { post, allowPrivate, query: { clock } }: WebhookContext,
  webhook: WebhookRecord,
  message: WebhookMessage,
): Promise<Sent> {
  const at = clock.now();
  const startedMs = clock.monotonicMs();
  const outcome = await post({
    url: new URL(webhook.url),
    headers: await signedHeaders(message, webhook, at),
    body: message.body,
    timeoutMs: SEND_MS,
    allowPrivate,
  });
  const ms = Math.round(clock.monotonicMs() - startedMs);
  const { id: messageId, type } = message;
  const failure = outcome.status === null ? outcome.failure : null;
  return { delivery: { messageId, type, at, ms, status: outcome.status, failure }, outcome };
}

function isTaken({ status }: PostOutcome): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Pure. */
function afterSending(
  state: WebhookState,
  { delivered }: Pick<NextMessage, "delivered">,
  { delivery, outcome }: Sent,
  nowMs: number,
): WebhookState {
  const deliveries = [delivery, ...state.deliveries].slice(0, SHOWN_DELIVERIES);
  if (isTaken(outcome)) {
    return { ...state, ...delivered, pending: null, tries: 0, nextMs: 0, deliveries };
  }
  const tries = state.tries + 1;
  const ownMs = RETRY_MS[tries - 1];
  const ended = outcome.status === 410 ? "gone" : ownMs === undefined ? "failed" : null;
  const wishedMs = outcome.status === null ? 0 : patience(outcome.retryAfter, nowMs);
  return { ...state, tries, ended, nextMs: nowMs + Math.max(ownMs ?? 0, wishedMs), deliveries };
}

/** Milliseconds that a `Retry-After` asks for: seconds or a date (RFC 9110, 10.2.3). */
function patience(retryAfter: string | null, nowMs: number): number {
  if (retryAfter === null) return 0;
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - nowMs;
  return Number.isNaN(ms) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
