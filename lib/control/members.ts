// The people of a namespace: one record a member, found by address at sign-in.
import { MAX_MEMBERS } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvEntries, kvGet } from "../store/kv_call.ts";
import type { MemberRecord } from "../store/people_records.ts";
import { roomForOne } from "../store/room_for_one.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import type { ConsoleSessions } from "./console_sessions.ts";
import { listPage, type Page, type PageInput } from "./list_page.ts";
import { dropPasskey, type Passkeys } from "./passkeys.ts";
import type { Tokens } from "./tokens.ts";

/** What became of a new member. */
export type AddOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "namespace_gone" | "email_taken" | "too_many" };

/** What became of a change; `record`: as it was at a removal, as it is otherwise. */
export type ChangeOutcome =
  | { readonly ok: true; readonly record: MemberRecord }
  | { readonly ok: false; readonly reason: "member_gone" | "last_admin" };

/** A change of one member. */
export interface MemberChange {
  readonly namespaceId: string;
  readonly memberId: string;
  /** Refuses what would leave the namespace without an admin who can sign in. */
  readonly keepAdmin: boolean;
  /** The record to be; null removes the member. May run several times. */
  readonly change: (current: MemberRecord) => MemberRecord | null;
  /** What is to happen with it, or not at all; told the record of the outcome. */
  readonly also?: Also<[MemberRecord]>;
}

/** What belongs to members, and goes with them. */
export interface MemberParts {
  readonly sessions: ConsoleSessions;
  readonly passkeys: Passkeys;
  readonly tokens: Tokens;
}

/** Deletes what is left of the sessions and tokens of a member that its present record has ended already. */
export async function endFormer({ sessions, tokens }: MemberParts, member: MemberRecord): Promise<void> {
  await sessions.endFormer(member);
  await tokens.endFormer(member.namespaceId, member.id, member.epoch);
}

/** Every method's errors: `meter_unreachable`. */
export class Members {
  constructor(
    private readonly kv: Deno.Kv,
    private readonly parts: MemberParts,
  ) {}

  /** Adds a member of a namespace that is there. `also`: what is to happen with it, or not at all. */
  async add(record: MemberRecord, also: Also = nothingElse): Promise<AddOutcome> {
    const { namespaceId, id, email } = record;
    return await untilCommitted(async () => {
      const [namespace, pointer] = await Promise.all([
        kvGet(this.kv, keys.namespace(namespaceId)),
        kvGet(this.kv, keys.memberByEmail(namespaceId, email)),
      ]);
      if (namespace.versionstamp === null) return { ok: false, reason: "namespace_gone" };
      if (pointer.versionstamp !== null) return { ok: false, reason: "email_taken" };
      const addition = this.kv.atomic().check(namespace, pointer)
        .set(pointer.key, id).set(keys.member(namespaceId, id), record);
      const bound = {
        added: keys.membersAdded(namespaceId),
        most: MAX_MEMBERS,
        count: () => this.#count(namespaceId),
      };
      if (!await roomForOne(this.kv, addition, bound)) return { ok: false, reason: "too_many" };
      return await kvCommit(also(addition)) ? { ok: true } : FASTER;
    });
  }

  async #count(namespaceId: string): Promise<number> {
    let count = 0;
    for await (const _ of kvEntries(this.kv, keys.members(namespaceId))) count++;
    return count;
  }

  async byId(namespaceId: string, memberId: string): Promise<MemberRecord | null> {
    return (await kvGet(this.kv, keys.member(namespaceId, memberId))).value;
  }

  /** As many reads for an unknown address as for a known one. */
  async byEmail(namespaceId: string, email: string): Promise<MemberRecord | null> {
    const { value: memberId } = await kvGet(this.kv, keys.memberByEmail(namespaceId, email));
    return await this.byId(namespaceId, memberId ?? "nobody");
  }

  list(namespaceId: string, page: PageInput): Promise<Page<MemberRecord>> {
    return listPage(this.kv, keys.members(namespaceId), page);
  }

  /**
   * Changes or removes a member. With another role or another `epoch`, and by its removal, its sessions end in the same
   * commit; what is left of them is deleted afterwards.
   */
  async change(input: MemberChange): Promise<ChangeOutcome> {
    const outcome = await untilCommitted(() => this.#attempt(input));
    if (outcome.ok && outcome.gone) {
      const { namespaceId, memberId } = input;
      await this.parts.sessions.endAll({ kind: "member", namespaceId, memberId });
      await this.parts.tokens.endFormer(namespaceId, memberId, null);
    } else if (outcome.ok) await endFormer(this.parts, outcome.record);
    return outcome;
  }

  async #attempt(
    { namespaceId, memberId, keepAdmin, change, also = nothingElse }: MemberChange,
  ): Promise<(ChangeOutcome & { readonly gone?: boolean }) | typeof FASTER> {
    const [lost, entry] = await Promise.all([
      kvGet(this.kv, keys.adminsLost(namespaceId)),
      kvGet(this.kv, keys.member(namespaceId, memberId)),
    ]);
    if (entry.value === null) return { ok: false, reason: "member_gone" };
    const current = entry.value;
    const next = withEpoch(current, change(current));
    const commit = this.kv.atomic().check(entry);
    if (isAdmin(current) && !isAdmin(next)) {
      if (keepAdmin && !await this.#hasOtherAdmin(current)) return { ok: false, reason: "last_admin" };
      // Of two that lose an admin at the same moment the second looks again.
      commit.check(lost).set(lost.key, (lost.value ?? 0) + 1);
    }
    if (next === null) await this.#dropAll(commit, current);
    else commit.set(entry.key, next);
    // Who has to come in anew does so without the keys of before.
    if (next !== null && next.joinedAt === null) await this.#dropPasskeys(commit, current.id);
    const record = next ?? current;
    if (!await kvCommit(also(commit, record))) return FASTER;
    return { ok: true, record, gone: next === null };
  }

  async #hasOtherAdmin({ namespaceId, id }: MemberRecord): Promise<boolean> {
    for await (const { value } of kvEntries(this.kv, keys.members(namespaceId))) {
      if (value.id !== id && isAdmin(value)) return true;
    }
    return false;
  }

  /** Adds the deletion of a member and of all by which it could come in to a commit that checks its record. */
  async #dropAll(commit: Deno.AtomicOperation, { namespaceId, id, email }: MemberRecord): Promise<void> {
    const invitation = await kvGet(this.kv, keys.invitationOf(id));
    commit.delete(keys.member(namespaceId, id)).delete(keys.memberByEmail(namespaceId, email));
    if (invitation.value !== null) commit.delete(invitation.key).delete(keys.link(invitation.value));
    await this.#dropPasskeys(commit, id);
  }

  async #dropPasskeys(commit: Deno.AtomicOperation, memberId: string): Promise<void> {
    for (const passkey of await this.parts.passkeys.list(memberId)) dropPasskey(commit, passkey);
  }

  /** Deletes all members of a removed namespace. After a crash it can be repeated. */
  async removeAll(namespaceId: string): Promise<void> {
    for await (const { value: { id: memberId } } of kvEntries(this.kv, keys.members(namespaceId))) {
      await this.change({ namespaceId, memberId, keepAdmin: false, change: () => null });
    }
    await kvCommit(
      this.kv.atomic().delete(keys.adminsLost(namespaceId)).delete(keys.membersAdded(namespaceId)),
    );
  }
}

/** An admin who can sign in. */
function isAdmin(member: MemberRecord | null): boolean {
  return member?.role === "admin" && member.joinedAt !== null;
}

/** Another role has other sessions. */
function withEpoch(current: MemberRecord, next: MemberRecord | null): MemberRecord | null {
  if (next === null || next.role === current.role || next.epoch !== current.epoch) return next;
  return { ...next, epoch: next.epoch + 1 };
}
