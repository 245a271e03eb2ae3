// The part of the schema of Deno KV that is about people; see keys.ts.
import type { Key } from "./key.ts";
import type { ConsoleSessionRecord, MemberRecord } from "./people_records.ts";

/** A part of `keys`. */
export const peopleKeys = {
  /** Until the member is removed. Sorted by creation within the namespace. */
  member: (namespaceId: string, memberId: string): Key<MemberRecord> => ["member", namespaceId, memberId],
  members: (namespaceId: string): Key<MemberRecord> => ["member", namespaceId],
  /** Id of the member with that address. As long as the member. */
  memberByEmail: (namespaceId: string, email: string): Key<string> => ["member_by_email", namespaceId, email],

  /** Until it ends: 12 hours after its last use, 7 days at most. The hash is SHA-256 of the cookie's value, hex. */
  consoleSession: (hash: string): Key<ConsoleSessionRecord> => ["console_session", hash],
  /** The hash of a session; as long as that. `owner` is the id of a member, or `operator`. */
  sessionOf: (owner: string, sessionId: string): Key<string> => ["session_of", owner, sessionId],
  sessionsOf: (owner: string): Key<string> => ["session_of", owner],
} as const;
