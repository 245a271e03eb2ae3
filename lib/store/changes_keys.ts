// The part of the schema of Deno KV that is about those who follow changes; see keys.ts. Hashes are SHA-256, hex.
import type {
  ChangeTicketRecord,
  WebhookEventRecord,
  WebhookLease,
  WebhookRecord,
  WebhookState,
} from "./changes_records.ts";
import type { Key } from "./key.ts";

/** A part of `keys`. */
export const changesKeys = {
  /** A minute, until it opens a stream of changes. */
  changeTicket: (hash: string): Key<ChangeTicketRecord> => ["change_ticket", hash],

  /** Until it is deleted, as long as the database. */
  webhook: (databaseId: string, webhookId: string): Key<WebhookRecord> => ["webhook", databaseId, webhookId],
  webhooks: (databaseId: string): Key<WebhookRecord> => ["webhook", databaseId],
  allWebhooks: (): Key<WebhookRecord> => ["webhook"],
  /** How many were ever added; as long as the database. */
  webhooksAdded: (databaseId: string): Key<number> => ["webhooks_added", databaseId],
  /** As long as the webhook. */
  webhookState: (webhookId: string): Key<WebhookState> => ["webhook_state", webhookId],
  /** Fifteen seconds from the last message. */
  webhookLease: (webhookId: string): Key<WebhookLease> => ["webhook_lease", webhookId],
  /** Eight days: longer than a message is tried. */
  webhookEvent: (databaseId: string, eventId: string): Key<WebhookEventRecord> => [
    "webhook_event",
    databaseId,
    eventId,
  ],
  webhookEvents: (databaseId: string): Key<WebhookEventRecord> => ["webhook_event", databaseId],
} as const;
