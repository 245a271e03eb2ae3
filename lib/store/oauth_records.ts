// What Deno KV stores about OAuth clients and what they were given. Times are unix milliseconds. Codes and tokens are here
// as hashes only.
import type { Role } from "../core/role.ts";
import type { ClientFacts, MemberStand, ScopeRow } from "./records.ts";

/** A client that has registered itself. */
export interface OauthClientRecord {
  /** `cli_…`. */
  readonly id: string;
  /** What it calls itself: nobody has checked it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly untilMs: number;
}

/** What a person has allowed a client. */
export interface OauthGrant {
  readonly namespaceId: string;
  /** The token by which it was allowed; absent: a member has allowed it. */
  readonly parentId?: string;
  readonly member?: MemberStand;
  readonly client: ClientFacts;
  readonly role: Role;
  /** Empty: the whole namespace. */
  readonly scopes: readonly ScopeRow[];
}

/** A code, which is exchanged once for the tokens of a connection. */
export interface OauthCodeRecord {
  readonly grant: OauthGrant;
  readonly redirectUri: string;
  /** SHA-256 of the client's verifier, base64url. */
  readonly codeChallenge: string;
  readonly untilMs: number;
}

/** A refresh token. The token that it renews is the connection: its record stays the same one. */
export interface OauthRefreshRecord {
  readonly namespaceId: string;
  readonly tokenId: string;
  readonly clientId: string;
  readonly untilMs: number;
  /** Until when the refresh token that it has followed is answered by it again; absent where it has followed a code. */
  readonly repeatUntilMs?: number;
}

/** The connection that a used code or refresh token has served: whoever sends it again ends that connection. */
export interface OauthSpentRecord {
  readonly namespaceId: string;
  readonly tokenId: string;
}
