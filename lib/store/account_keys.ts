// The part of the schema of Deno KV that is about accounts of end users; see keys.ts.
import type {
  AccountTokenRecord,
  LoginFailuresRecord,
  MailJobRecord,
  SessionEndsRecord,
} from "./account_records.ts";
import type { Key } from "./key.ts";

/** A part of `keys`. */
export const accountKeys = {
  /** Failed logins of an hour. `account` is a keyed hash: of the address as typed, or of the user. */
  loginFailures: (databaseId: string, account: string): Key<LoginFailuresRecord> => [
    "login_failures",
    databaseId,
    account,
  ],

  /** Those from one address, a keyed hash. */
  loginFailuresFrom: (databaseId: string, account: string, client: string): Key<LoginFailuresRecord> => [
    "login_failures",
    databaseId,
    account,
    client,
  ],

  /** 30 days: an address, a keyed hash, from which the user of that address logged in. */
  loginPlace: (databaseId: string, account: string, client: string): Key<true> => [
    "login_place",
    databaseId,
    account,
    client,
  ],

  /** 90 days from the last end, which no session outlives. `user` is SHA-256 of the users table and the key, hex. */
  sessionEnds: (
    databaseId: string,
    user: string,
  ): Key<SessionEndsRecord> => ["session_ends", databaseId, user],

  /** 30 minutes or 24 hours, until it is used. The hash is SHA-256 of the token, hex. */
  accountToken: (hash: string): Key<AccountTokenRecord> => ["account_token", hash],

  /** A day, until the mail is sent or given up. */
  mailJob: (id: string): Key<MailJobRecord> => ["mail_job", id],
  mailJobs: (): Key<MailJobRecord> => ["mail_job"],
} as const;
