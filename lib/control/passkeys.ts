// Passkeys of members: found by the credential that signs, listed and removed by their owner. Each addition also writes
// the member's record, so that whatever ends a member's passkeys does not miss one.
import { hash } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { MemberRecord, PasskeyRecord } from "../store/people_records.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";

/** Passkeys of one member: more devices than people have. */
export const MAX_PASSKEYS = 20;

/** What became of a new passkey. */
export type PasskeyOutcome =
  | { readonly ok: true }
  | {
    readonly ok: false;
    readonly reason: "member_changed" | "too_many" | "credential_taken" | "challenge_used";
  };

/** What became of a removal. `last_way_in`: the member has no other passkey and no password. */
export type RemovalOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "unknown" | "last_way_in" };

/** A challenge that counts once. */
export interface UsedChallenge {
  /** SHA-256, hex. */
  readonly hash: string;
  readonly untilMs: number;
}

/** Every method's errors: `meter_unreachable`. `also`: what is to happen with a change, or not at all. */
export class Passkeys {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /**
   * Adds a passkey of a member and uses the challenge up, in one commit. `member_changed`: it is gone, or is not any more
   * as it was when it proved who it is (`provedEpoch`).
   */
  async add(
    record: PasskeyRecord,
    challenge: UsedChallenge,
    provedEpoch: number,
    also: Also,
  ): Promise<PasskeyOutcome> {
    return await untilCommitted(async () => {
      const [member, taken, used] = await Promise.all([
        kvGet(this.kv, keys.member(record.namespaceId, record.memberId)),
        kvGet(this.kv, credentialKey(record)),
        kvGet(this.kv, keys.challengeUsed(challenge.hash)),
      ]);
      if (used.versionstamp !== null) return { ok: false, reason: "challenge_used" };
      if (member.value === null || member.value.epoch !== provedEpoch) {
        return { ok: false, reason: "member_changed" };
      }
      if (taken.versionstamp !== null) return { ok: false, reason: "credential_taken" };
      if ((await this.list(record.memberId)).length >= MAX_PASSKEYS) return { ok: false, reason: "too_many" };
      const commit = also(this.kv.atomic().check(member, taken, used).set(member.key, member.value));
      return await kvCommit(useUp(addPasskey(commit, record), challenge, this.clock)) ? { ok: true } : FASTER;
    });
  }

  /** The oldest first. */
  async list(memberId: string): Promise<PasskeyRecord[]> {
    return (await Array.fromAsync(kvEntries(this.kv, keys.passkeysOf(memberId)))).map(({ value }) => value);
  }

  /** The passkey of a credential (id in base64url), with its member. */
  async byCredential(
    credentialId: string,
  ): Promise<{ readonly passkey: PasskeyRecord; readonly member: MemberRecord } | null> {
    const { value: pointer } = await kvGet(this.kv, credentialKey({ credentialId }));
    if (pointer === null) return null;
    const { value: passkey } = await kvGet(this.kv, keys.passkey(pointer.memberId, pointer.id));
    if (passkey === null) return null;
    const { value: member } = await kvGet(this.kv, keys.member(passkey.namespaceId, passkey.memberId));
    return member === null ? null : { passkey, member };
  }

  /** Notes a use and uses the challenge up; false when that had been answered before, or the passkey is gone. */
  async use(passkey: PasskeyRecord, counter: number, challenge: UsedChallenge): Promise<boolean> {
    const usedKey = keys.challengeUsed(challenge.hash);
    return await untilCommitted(async () => {
      const [entry, used] = await Promise.all([
        kvGet(this.kv, keys.passkey(passkey.memberId, passkey.id)),
        kvGet(this.kv, usedKey),
      ]);
      // Another use of it that was counted meanwhile: this one has to be looked at again.
      if (entry.value === null || used.versionstamp !== null || entry.value.counter !== passkey.counter) {
        return false;
      }
      const next = { ...entry.value, counter, usedAt: this.clock.now() };
      const commit = this.kv.atomic().check(entry, used).set(entry.key, next);
      return await kvCommit(useUp(commit, challenge, this.clock)) ? true : FASTER;
    });
  }

  /** Removes a passkey of a member who can still come in without it. */
  async remove(
    { namespaceId, memberId }: Pick<PasskeyRecord, "namespaceId" | "memberId">,
    passkeyId: string,
    also: Also = nothingElse,
  ): Promise<RemovalOutcome> {
    return await untilCommitted(async () => {
      const [member, entry] = await Promise.all([
        kvGet(this.kv, keys.member(namespaceId, memberId)),
        kvGet(this.kv, keys.passkey(memberId, passkeyId)),
      ]);
      if (member.value === null || entry.value === null) return { ok: false, reason: "unknown" };
      if (member.value.passwordHash === null && (await this.list(memberId)).length === 1) {
        return { ok: false, reason: "last_way_in" };
      }
      // Writing the member too lets the second of two removals look again.
      const commit = this.kv.atomic().check(member, entry).set(member.key, member.value);
      return await kvCommit(also(dropPasskey(commit, entry.value))) ? { ok: true } : FASTER;
    });
  }
}

/** Adds the keys of a passkey to a commit. */
export function addPasskey(commit: Deno.AtomicOperation, record: PasskeyRecord): Deno.AtomicOperation {
  const { memberId, id } = record;
  return commit.set(keys.passkey(memberId, id), record).set(credentialKey(record), { memberId, id });
}

/** Adds the deletion of a passkey to a commit. */
export function dropPasskey(commit: Deno.AtomicOperation, record: PasskeyRecord): Deno.AtomicOperation {
  return commit.delete(keys.passkey(record.memberId, record.id)).delete(credentialKey(record));
}

/** Adds to a commit that a challenge has been answered. */
export function useUp(
  commit: Deno.AtomicOperation,
  { hash, untilMs }: UsedChallenge,
  clock: Clock,
): Deno.AtomicOperation {
  return commit.set(keys.challengeUsed(hash), true, { expireIn: Math.max(1, untilMs - clock.now()) });
}

/** The key by which a credential is found. */
export function credentialKey(
  { credentialId }: Pick<PasskeyRecord, "credentialId">,
): ReturnType<typeof keys.passkeyByCredential> {
  return keys.passkeyByCredential(hash("sha256", credentialId, "hex"));
}
