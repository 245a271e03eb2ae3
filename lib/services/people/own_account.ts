// What people do about their own account: their sessions, their password, and the proof that it is still they.
import { requireFresh } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Caller, MemberCaller, PersonCaller } from "../../access/caller.ts";
import type { MemberRecord } from "../../store/people_records.ts";
import { guess } from "./guess.ts";
import { withOwnAct } from "./with_own_act.ts";
import type { OpenedSession } from "./open_person_session.ts";
import {
  type Browser,
  ownerOf,
  type PeopleContext,
  requireMember,
  requireSelf,
  sessionIdOf,
} from "./people_context.ts";
import { CONSOLE_OWNER, guessOperatorKey, hasPassword, openMemberSession } from "./sign_in.ts";
import { strongPassword } from "./strong_password.ts";

/** Who asks, beside the parts of the process. */
export interface AccountContext extends PeopleContext {
  readonly caller: Caller;
}

/** A session as its owner sees it. Times are ISO 8601. */
export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly createdAt: string;
  readonly signedInAt: string;
  /** Up to some minutes behind. */
  readonly usedAt: string;
  /** At the latest. */
  readonly expiresAt: string;
  /** The one that asks. */
  readonly current: boolean;
}

/** The sessions of the caller, the newest first. Errors: `person_required`, `meter_unreachable`. */
export async function listSessions(ctx: AccountContext): Promise<SessionView[]> {
  requireSelf(ctx.caller);
  const own = sessionIdOf(ctx.caller);
  const sessions = await ctx.control.consoleSessions.list(ownerOf(ctx.caller));
  return sessions.toReversed().map(({ id, agent, createdAt, signedInAt, usedAt, untilMs }) => ({
    id,
    agent,
    createdAt: isoTime(createdAt),
    signedInAt: isoTime(signedInAt),
    usedAt: isoTime(usedAt),
    expiresAt: isoTime(untilMs),
    current: id === own,
  }));
}

/** Ends a session of the caller; its own is a sign-out. Errors: `person_required`, `session_not_found`. */
export async function endSession(ctx: AccountContext, sessionId: string): Promise<{ id: string }> {
  requireSelf(ctx.caller);
  if (!await ctx.control.consoleSessions.end(ownerOf(ctx.caller), sessionId)) {
    throw new AppError("session_not_found");
  }
  return { id: sessionId };
}

/** Ends all sessions of the caller but the one that asks. Errors: `person_required`. */
export async function endOtherSessions(ctx: AccountContext): Promise<void> {
  requireSelf(ctx.caller);
  const own = sessionIdOf(ctx.caller);
  await ctx.control.consoleSessions.endAll(ownerOf(ctx.caller), ({ id }) => id === own);
}

/** Ends the session that asks, where it has one. Errors: `person_required`. */
export async function signOut(ctx: AccountContext): Promise<void> {
  requireSelf(ctx.caller);
  const own = sessionIdOf(ctx.caller);
  if (own !== null) await ctx.control.consoleSessions.end(ownerOf(ctx.caller), own);
}

/** By what a caller can confirm who it is. */
export interface Proofs {
  /** Of the operator: the key. */
  readonly password: boolean;
  readonly passkey: boolean;
}

/** Errors: `person_required`, `session_ended`. */
export async function listProofs(ctx: AccountContext): Promise<Proofs> {
  const { caller } = ctx;
  requireSelf(caller);
  if (caller.kind === "operator") return { password: true, passkey: false };
  const [{ passwordHash }, passkeys] = await Promise.all([
    ownRecord(ctx, caller),
    ctx.control.passkeys.list(caller.memberId),
  ]);
  return { password: passwordHash !== null, passkey: passkeys.length > 0 };
}

/**
 * Makes the session that asks as new as one that has just begun. `secret`: a member's password or the operator key, as it
 * is typed. Errors: `person_required`, `sign_in_failed`, `sign_in_locked`, `hashing_busy`, `session_ended`.
 */
export async function confirmByPassword(ctx: AccountContext, secret: string): Promise<void> {
  const { caller } = ctx;
  requireSelf(caller);
  // A count of its own: strangers who fail at the sign-in must not keep an admin from denying a write.
  if (caller.kind === "operator") {
    const account = ["confirm", sessionIdOf(caller) ?? "operator"];
    await guessOperatorKey(ctx, secret, { account, address: null });
  } else {
    await guess(ctx, { account: ["confirm", caller.memberId], address: null }, async () => {
      const member = await ctx.control.members.byId(caller.namespaceId, caller.memberId);
      return await hasPassword(ctx, member, secret) ? true : null;
    });
  }
  await confirmSession(ctx, caller);
}

/** Once the caller has proved who it is. Errors: `session_ended`. */
export async function confirmSession(ctx: PeopleContext, caller: PersonCaller): Promise<void> {
  const own = sessionIdOf(caller);
  const confirmed = own === null || await ctx.control.consoleSessions.confirm(ownerOf(caller), own);
  if (confirmed === null) throw new AppError("session_ended");
}

/**
 * Sets the caller's password: all its sessions end, and the browser that asks gets a new one. Errors: `member_required`,
 * `person_required`, `sign_in_again`, `validation_failed` on `password`, `hashing_busy`, `session_ended`.
 */
export async function changePassword(
  ctx: AccountContext,
  { password, browser }: { readonly password: string; readonly browser: Browser },
): Promise<OpenedSession> {
  const { caller } = ctx;
  requireMember(caller);
  requireFresh(caller, ctx.clock.now());
  const { name } = await ownRecord(ctx, caller);
  const normal = await strongPassword(password, [caller.email, name ?? "", caller.namespaceSlug]);
  const passwordHash = await ctx.passwords.hash(CONSOLE_OWNER, normal);
  const { namespaceId, memberId, epoch } = caller;
  const outcome = await ctx.control.members.change({
    namespaceId,
    memberId,
    keepAdmin: false,
    change: (current) => {
      // Hashing takes a while: a session that has ended meanwhile sets no password of what the member has become.
      if (current.epoch !== epoch) throw new AppError("session_ended");
      return { ...current, passwordHash, epoch: epoch + 1 };
    },
    also: withOwnAct(ctx, { ...caller, id: memberId }, { action: "password.changed" }),
  });
  if (!outcome.ok) throw new AppError("session_ended");
  return await openMemberSession(ctx, outcome.record, { ...browser, replaced: null });
}

/** Errors: `session_ended` when the member is gone. */
export async function ownRecord(ctx: PeopleContext, caller: MemberCaller): Promise<MemberRecord> {
  const record = await ctx.control.members.byId(caller.namespaceId, caller.memberId);
  if (record === null) throw new AppError("session_ended");
  return record;
}
