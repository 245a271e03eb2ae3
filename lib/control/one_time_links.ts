// Links by which people come in: each counts once, in one commit with what it gives. Its record says whether it is still
// valid; the lifetime of its key only cleans up.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { LinkRecord, MemberRecord, PasskeyRecord } from "../store/people_records.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { endFormer, type MemberParts } from "./members.ts";
import { addPasskey, credentialKey, dropPasskey, type UsedChallenge, useUp } from "./passkeys.ts";

/** What is set where a link is accepted. */
export interface Acceptance {
  /** The member to be: of an invitation from the one that is, of a start link from null. May run several times. */
  readonly member: (current: MemberRecord | null) => MemberRecord;
  /** The passkey that comes with it, and the challenge that it has answered. */
  readonly passkey: { readonly record: PasskeyRecord; readonly challenge: UsedChallenge } | null;
  /** What is to happen with it, or not at all; told the member as it is then. */
  readonly also?: Also<[MemberRecord]>;
}

/** What became of it. */
export type AcceptOutcome =
  | { readonly ok: true; readonly member: MemberRecord }
  | {
    readonly ok: false;
    readonly reason: "link_gone" | "email_taken" | "credential_taken" | "challenge_used";
  };

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. */
export class OneTimeLinks {
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly parts: MemberParts,
  ) {}

  /** Adds the invitation of a member to the commit that makes the member. */
  inviteNew(commit: Deno.AtomicOperation, hash: string, record: LinkRecord): Deno.AtomicOperation {
    const lifetime = { expireIn: Math.max(1, record.untilMs - this.clock.now()) };
    return commit.set(keys.link(hash), record, lifetime)
      .set(keys.invitationOf(record.memberId), hash, lifetime);
  }

  /**
   * Adds an invitation; the member's former one ends. False when the member is gone. `also`: what is to happen with it, or
   * not at all.
   */
  async invite(hash: string, record: LinkRecord, also: Also = nothingElse): Promise<boolean> {
    const { namespaceId, memberId } = record;
    return await untilCommitted(async () => {
      const [member, former] = await Promise.all([
        kvGet(this.kv, keys.member(namespaceId, memberId)),
        kvGet(this.kv, keys.invitationOf(memberId)),
      ]);
      if (member.versionstamp === null) return false;
      // Writing the member too keeps a removal at the same moment from missing this link.
      const commit = this.kv.atomic().check(member, former).set(member.key, member.value);
      if (former.value !== null) commit.delete(keys.link(former.value));
      return await kvCommit(also(this.inviteNew(commit, hash, record))) ? true : FASTER;
    });
  }

  /** Adds the link of a first start. */
  async addStart(hash: string, record: LinkRecord): Promise<void> {
    const expireIn = Math.max(1, record.untilMs - this.clock.now());
    await kvCommit(this.kv.atomic().set(keys.link(hash), record, { expireIn }));
  }

  /** Reads a link without using it. Null when it is unknown, used or expired. */
  async find(hash: string): Promise<LinkRecord | null> {
    const { value } = await kvGet(this.kv, keys.link(hash));
    return value === null || value.untilMs <= this.clock.now() ? null : value;
  }

  /**
   * Uses the link up and writes the member, with nothing but the passkey that comes with it, in one commit: one of
   * several callers wins. Sessions and tokens of the member end.
   */
  async accept(hash: string, acceptance: Acceptance): Promise<AcceptOutcome> {
    const outcome = await untilCommitted(() => this.#attempt(hash, acceptance));
    if (outcome.ok) await endFormer(this.parts, outcome.member);
    return outcome;
  }

  async #attempt(
    hash: string,
    { member: memberOf, passkey, also = nothingElse }: Acceptance,
  ): Promise<AcceptOutcome | typeof FASTER> {
    const link = await kvGet(this.kv, keys.link(hash));
    if (link.value === null || link.value.untilMs <= this.clock.now()) {
      return { ok: false, reason: "link_gone" };
    }
    const { namespaceId } = link.value;
    const namespace = await kvGet(this.kv, keys.namespace(namespaceId));
    if (namespace.versionstamp === null) return { ok: false, reason: "link_gone" };
    const commit = this.kv.atomic().check(link, namespace).delete(link.key);
    let member: MemberRecord;
    if (link.value.kind === "invitation") {
      const { memberId } = link.value;
      const current = await kvGet(this.kv, keys.member(namespaceId, memberId));
      if (current.value === null || !letsIn(link.value, current.value)) {
        return { ok: false, reason: "link_gone" };
      }
      member = { ...memberOf(current.value), vouched: link.value.byPerson };
      commit.check(current).delete(keys.invitationOf(memberId));
      for (const old of await this.parts.passkeys.list(memberId)) dropPasskey(commit, old);
    } else {
      member = memberOf(null);
      const pointer = await kvGet(this.kv, keys.memberByEmail(namespaceId, member.email));
      if (pointer.versionstamp !== null) return { ok: false, reason: "email_taken" };
      commit.check(pointer).set(pointer.key, member.id);
    }
    commit.set(keys.member(namespaceId, member.id), member);
    if (passkey !== null) {
      const [taken, used] = await Promise.all([
        kvGet(this.kv, credentialKey(passkey.record)),
        kvGet(this.kv, keys.challengeUsed(passkey.challenge.hash)),
      ]);
      if (taken.versionstamp !== null) return { ok: false, reason: "credential_taken" };
      if (used.versionstamp !== null) return { ok: false, reason: "challenge_used" };
      useUp(addPasskey(commit.check(taken, used), passkey.record), passkey.challenge, this.clock);
    }
    return await kvCommit(also(commit, member)) ? { ok: true, member } : FASTER;
  }
}

/** Whether an invitation lets in the member as it is now: one that a token has made lets no admin in. */
export function letsIn(link: LinkRecord, member: MemberRecord): boolean {
  return link.byPerson || member.role !== "admin";
}
