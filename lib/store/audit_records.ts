// What people and tokens have done in a namespace, as Deno KV stores it. Times are unix milliseconds.

/** One act. It never holds a secret, SQL text or a value of a row. */
export interface AuditRecord {
  /** `aud_…`. */
  readonly id: string;
  readonly namespaceId: string;
  readonly at: number;
  /** Id of the API token or member, or `operator`. */
  readonly actor: string;
  /** The name of whoever it was, at that moment. */
  readonly actorName: string;
  readonly action: AuditAction;
  /** Slug of the database that it was about; null: the namespace as a whole. */
  readonly database: string | null;
  /** What it was done to: an id or a slug; null where the action says it all. */
  readonly target: string | null;
  readonly facts: AuditFacts;
}

/** Figures and names beside it. */
export type AuditFacts = Readonly<Record<string, string | number | boolean | null>>;

/** What can be done. */
export type AuditAction =
  | ("namespace.created" | "namespace.changed" | "credit.added")
  | ("database.created" | "database.changed" | "database.deleted" | "database.brought_back")
  | ("token.created" | "token.revoked" | "sessions.revoked")
  | ("client.allowed" | "client.connected" | "client.ended")
  | ("rule.created" | "rule.changed" | "rule.deleted")
  | ("endpoint.created" | "endpoint.changed" | "endpoint.deleted" | "endpoint.moved" | "endpoint.restored")
  | ("account.link_made" | "account.unlocked" | "mail.failed")
  | ("webhook.created" | "webhook.changed" | "webhook.deleted" | "webhook.redelivered")
  | ("approval.approved" | "approval.denied" | "approval.undone")
  | ("member.invited" | "member.changed" | "member.removed" | "member.joined" | "member.signed_in")
  | ("backup.taken" | "backup.restored")
  | ("password.changed" | "passkey.added" | "passkey.removed");
