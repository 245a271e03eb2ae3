// Lifetimes and bounds of OAuth, in one place. Times are milliseconds.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./clock.ts";

/** How long what OAuth gives out is good for, and how much of it there may be. */
export const oauthLimits = {
  /** A code: the client has it back in a second or two, and may be slow to start. */
  codeMs: 2 * MINUTE_MS,
  /** An access token. */
  accessMs: HOUR_MS,
  /** A refresh token, and with it the connection of a client that does not come back. */
  refreshMs: 30 * DAY_MS,
  /** How long a used refresh token is answered by the same tokens again: calls under way together all renew at once. */
  repeatMs: 30_000,
  /** A registration with which nobody has connected yet. */
  unusedClientMs: DAY_MS,
  /** A registration since its last use. */
  clientMs: 90 * DAY_MS,
  /** Registrations of one address in one hour: people share addresses, and clients try again. */
  registrationsOfAddress: 30,
  /** Registrations of all in one hour: what strangers may write into KV. */
  registrations: 500,
  /** Bytes of a request to `/oauth/register`, `/oauth/token` and `/oauth/revoke`. */
  bodyBytes: 16 * 1024,
  redirectUris: 10,
  /** Characters of each. */
  redirectUriLength: 1024,
  /** Characters of a client's name that are kept and shown. */
  nameLength: 100,
  /** Characters of the address of a client's document. */
  clientIdLength: 1024,
  /** Characters of `state`. */
  stateLength: 2048,
  /** Bytes of a client's document, and milliseconds until it has come. */
  documentBytes: 64 * 1024,
  documentMs: 5_000,
  /** Milliseconds that a document that was read counts, and how many are kept. */
  documentAgeMs: 5 * MINUTE_MS,
  documents: 200,
  /** Documents that are read at the same time. */
  documentsAtOnce: 20,
} as const;
