// What Deno KV stores about people: members, their sessions in the console. Times are unix milliseconds. Secrets are here
// as hashes only.
import type { MemberRole } from "../core/role.ts";

/** A person who belongs to one namespace. Whoever has neither password nor passkey was invited and has not come yet. */
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
}

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
