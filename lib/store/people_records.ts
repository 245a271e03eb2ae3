// What Deno KV stores about people: members, their sessions in the console, links and passkeys by which they come in.
// Times are unix milliseconds. Secrets are here as hashes only.
import type { MemberRole } from "../core/role.ts";

/** A person who belongs to one namespace. */
export interface MemberRecord {
  /** `mem_…`. */
  readonly id: string;
  readonly namespaceId: string;
  /** In lower case; one member an address and namespace. */
  readonly email: string;
  readonly name: string | null;
  readonly role: MemberRole;
  readonly passwordHash: string | null;
  /** Sessions count while they have this number: raising it ends all of them in the same commit. */
  readonly epoch: number;
  readonly createdAt: number;
  /** When it accepted an invitation last; null: it was invited and has not come yet. */
  readonly joinedAt: number | null;
  /** Whether a person made the link by which it came in last, and not a token. */
  readonly vouched: boolean;
}

/** A link that counts once. */
export interface LinkRecord {
  /** `invitation`: gives a member a new password or passkey. `start`: makes the first admin of the namespace. */
  readonly kind: "invitation" | "start";
  readonly namespaceId: string;
  /** Who comes in; behind a start link there is nobody of that id yet. */
  readonly memberId: string;
  /** Whether a person made it: one that a token made lets no admin in. */
  readonly byPerson: boolean;
  readonly untilMs: number;
}

/** A public key with which a member signs in. */
export interface PasskeyRecord {
  /** `pky_…`. */
  readonly id: string;
  readonly namespaceId: string;
  readonly memberId: string;
  /** What its owner calls it. */
  readonly name: string;
  /** base64url, as the authenticator gave it. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** Signatures that the authenticator had counted at its last use; 0: it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: number;
  readonly usedAt: number | null;
}

/** Where the record of a passkey is. */
export type PasskeyPointer = Pick<PasskeyRecord, "memberId" | "id">;

/** Whose session it is: a member's, or that of whoever sent the operator key. */
export type SessionOwner =
  | { readonly kind: "member"; readonly namespaceId: string; readonly memberId: string }
  | { readonly kind: "operator" };

/** A sign-in in one browser. */
export interface ConsoleSessionRecord {
  /** `ses_…`: names it for its owner, opens nothing. */
  readonly id: string;
  readonly owner: SessionOwner;
  /** The member's `epoch`, or a hash about the operator key, at sign-in: with another one it has ended. */
  readonly epoch: string;
  readonly createdAt: number;
  /** When its owner last proved who it is. */
  readonly signedInAt: number;
  /** When it was last used, up to some minutes behind. */
  readonly usedAt: number;
  /** When it ends however much it is used. */
  readonly untilMs: number;
  /** What the browser calls itself, cut. */
  readonly agent: string;
}
