// Records about those who follow changes.

/** What a ticket opens: the changes of one database, with the rights of the token that got it. */
export interface ChangeTicketRecord {
  readonly namespaceId: string;
  readonly tokenId: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databasePath: string;
  /** What had that address. */
  readonly databaseId: string;
  /** When it expires. KV may delete it later. */
  readonly untilMs: number;
}

/** What a webhook can be told of. */
export const webhookEvents = ["change", "approval.requested", "approval.decided", "backup.late"] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** What its owner has decided about a webhook. */
export interface WebhookRecord {
  /** `whk_…`. */
  readonly id: string;
  readonly namespaceId: string;
  readonly databaseId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Tables whose changes it is told; null: all. */
  readonly tables: readonly string[] | null;
  readonly enabled: boolean;
  /** `whsec_…`, the newest first. Whoever signs needs them as they are. `untilMs` null: until another takes its place. */
  readonly secrets: readonly { readonly secret: string; readonly untilMs: number | null }[];
  readonly createdAt: number;
}

/** How far the messages of a webhook have come. Only who holds its lease, and its owner, change it. */
export interface WebhookState {
  /** The last change that was delivered, or was not to be. */
  readonly place: { readonly seq: number; readonly epoch: number };
  /** The newest event that was delivered, and those shortly before it: events of other processes may come late. */
  readonly eventId: string;
  readonly told: readonly string[];
  /** Those up to this id were told too; absent or null: that is known by the time alone. */
  readonly toldUntil?: string | null;
  /** The message that is being delivered: under its id it has the same content however often it is sent. */
  readonly pending: PendingMessage | null;
  /** How often it was sent in vain, and when it may be sent again, in unix milliseconds. */
  readonly tries: number;
  readonly nextMs: number;
  /** Why nothing is sent any more: the receiver wants no more, or was tried in vain as often as may be. */
  readonly ended: "gone" | "failed" | null;
  /** The newest first. */
  readonly deliveries: readonly WebhookDelivery[];
}

/** A message of changes up to a place, or of one event. */
export interface PendingMessage {
  /** `msg_…`. */
  readonly id: string;
  readonly at: number;
  readonly until: { readonly seq: number; readonly epoch: number } | null;
  readonly eventId: string | null;
}

/** One attempt. */
export interface WebhookDelivery {
  readonly messageId: string;
  readonly type: string;
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly failure: string | null;
}

/** Something that has happened to a database and is no change of it. */
export interface WebhookEventRecord {
  readonly type: Exclude<WebhookEvent, "change">;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Who delivers the messages of a webhook. */
export interface WebhookLease {
  readonly holder: string;
  readonly untilMs: number;
}
