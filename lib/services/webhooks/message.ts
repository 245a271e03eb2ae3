// A message to a webhook and how it is signed (Standard Webhooks 1.0, standardwebhooks.com).
import { isoTime } from "../../core/clock.ts";
import type { PendingMessage, WebhookEvent, WebhookRecord } from "../../store/changes_records.ts";

/** A message to be sent. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: WebhookEvent | "test";
  /** JSON text, the same whenever the message is sent. */
  readonly body: string;
}

/** Puts a message together. */
export function messageOf(
  { id, at }: Pick<PendingMessage, "id" | "at">,
  type: WebhookMessage["type"],
  data: Readonly<Record<string, unknown>>,
): WebhookMessage {
  return { id, type, body: JSON.stringify({ type, timestamp: isoTime(at), data }) };
}

/** The headers of one attempt, with a signature by each secret that counts. */
export async function signedHeaders(
  { id, body }: WebhookMessage,
  { secrets }: Pick<WebhookRecord, "secrets">,
  nowMs: number,
): Promise<Record<string, string>> {
  const { Webhook } = await import("standardwebhooks");
  const at = new Date(nowMs);
  const signatures = secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
    .map(({ secret }) => new Webhook(secret).sign(id, at, body));
  return {
    "content-type": "application/json",
    "user-agent": "Cubby",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(nowMs / 1000)),
    "webhook-signature": signatures.join(" "),
  };
}

/** A fresh secret: 24 random bytes. */
export function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(24))))}`;
}
