// The part of the schema of Deno KV that is about OAuth; see keys.ts. Hashes are SHA-256, hex.
import type { Key } from "./key.ts";
import type {
  OauthClientRecord,
  OauthCodeRecord,
  OauthRefreshRecord,
  OauthSpentRecord,
} from "./oauth_records.ts";

/** A part of `keys`. Lifetimes: `lib/core/oauth_limits.ts`. */
export const oauthKeys = {
  /** A day, and 90 days from each use. */
  oauthClient: (clientId: string): Key<OauthClientRecord> => ["oauth_client", clientId],
  /** Two minutes, until it is exchanged or sent wrongly. */
  oauthCode: (hash: string): Key<OauthCodeRecord> => ["oauth_code", hash],
  /** 30 days, until it is used. */
  oauthRefresh: (hash: string): Key<OauthRefreshRecord> => ["oauth_refresh", hash],
  /** 30 days from the use of a code or refresh token. */
  oauthSpent: (hash: string): Key<OauthSpentRecord> => ["oauth_spent", hash],
} as const;
