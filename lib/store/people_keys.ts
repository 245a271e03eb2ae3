// The part of the schema of Deno KV that is about people; see keys.ts.
import type { Key } from "./key.ts";
import type {
  ConsoleSessionRecord,
  LinkRecord,
  MemberRecord,
  PasskeyPointer,
  PasskeyRecord,
} from "./people_records.ts";

/** A part of `keys`. */
export const peopleKeys = {
  /** Until the member is removed. Sorted by creation within the namespace. */
  member: (namespaceId: string, memberId: string): Key<MemberRecord> => ["member", namespaceId, memberId],
  members: (namespaceId: string): Key<MemberRecord> => ["member", namespaceId],
  /** Id of the member with that address. As long as the member. */
  memberByEmail: (namespaceId: string, email: string): Key<string> => ["member_by_email", namespaceId, email],

  /** How often the namespace has had an admin less. As long as the namespace: two admins do not send each other away. */
  adminsLost: (namespaceId: string): Key<number> => ["admins_lost", namespaceId],

  /** How many were ever added. As long as the namespace. */
  membersAdded: (namespaceId: string): Key<number> => ["members_added", namespaceId],

  /** Until it is used, replaced or has expired. The hash is SHA-256 of the link's token, hex. */
  link: (hash: string): Key<LinkRecord> => ["one_time_link", hash],
  /** The hash of the member's living invitation; as long as that. */
  invitationOf: (memberId: string): Key<string> => ["invitation_of", memberId],

  /** As long as the member, or until it is removed. Sorted by creation. */
  passkey: (memberId: string, passkeyId: string): Key<PasskeyRecord> => ["passkey", memberId, passkeyId],
  passkeysOf: (memberId: string): Key<PasskeyRecord> => ["passkey", memberId],
  /** As long as the passkey. The hash is SHA-256 of the credential's id, hex: ids are longer than a key may be. */
  passkeyByCredential: (hash: string): Key<PasskeyPointer> => ["passkey_by_credential", hash],
  /** A challenge that has been answered, until it would have expired. The hash is SHA-256, hex. */
  challengeUsed: (hash: string): Key<true> => ["challenge_used", hash],

  /** Until it ends: 12 hours after its last use, 7 days at most. The hash is SHA-256 of the cookie's value, hex. */
  consoleSession: (hash: string): Key<ConsoleSessionRecord> => ["console_session", hash],
  /** The hash of a session; as long as that. `owner` is the id of a member, or `operator`. */
  sessionOf: (owner: string, sessionId: string): Key<string> => ["session_of", owner, sessionId],
  sessionsOf: (owner: string): Key<string> => ["session_of", owner],
} as const;
