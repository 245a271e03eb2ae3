// What the control plane knows about accounts of end users, as Deno KV stores it. Times are unix milliseconds.

/** Which sessions of one end user have ended early. */
export interface SessionEndsRecord {
  /** Sessions that came before this end of all have ended; 0: there was none. */
  readonly epochMs: number;
  readonly ended: readonly { readonly sessionId: string; readonly untilMs: number }[];
}

/** What the link in a mail to an app's user is good for. */
export interface AccountTokenRecord {
  readonly purpose: "reset" | "verify";
  /** The database or branch, and the endpoint, that made it and take it. */
  readonly databaseId: string;
  readonly slug: string;
  /** The users table, folded, and the value of its primary key. */
  readonly table: string;
  readonly key: string | number;
  readonly email: string;
  /** SHA-256 of the hash that the account had, hex: with another password the token is void. */
  readonly passwordDigest: string;
  readonly untilMs: number;
}

/** A mail that an endpoint was asked for, until it is sent or given up. */
export interface MailJobRecord {
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databasePath: string;
  readonly slug: string;
  /** As typed; nobody has looked whether there is such an account. */
  readonly email: string;
  readonly askedMs: number;
  /** Sendings that failed. */
  readonly attempts: number;
  /** Whoever works at it, empty: nobody; and from when on others may. */
  readonly holder: string;
  readonly dueMs: number;
}

/** Failed logins of one account since the first of them. */
export interface LoginFailuresRecord {
  readonly count: number;
  /** When they are forgotten. KV may delete them later. */
  readonly untilMs: number;
  /** The last of them; absent in records from before it was noted. */
  readonly lastMs?: number;
}
