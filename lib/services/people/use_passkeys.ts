// What people do with passkeys: make one, sign in, confirm who they are, come in by a link; see and remove their own.
import { requireFresh } from "../../access/caller.ts";
import { MAX_PASSKEYS, type PasskeyOutcome } from "../../control/passkeys.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { MemberRecord, PasskeyRecord } from "../../store/people_records.ts";
import { comeIn, emailOf, type Newcomer, openLink } from "./accept_link.ts";
import { guess } from "./guess.ts";
import { withOwnAct } from "./with_own_act.ts";
import { type AccountContext, confirmSession, ownRecord } from "./own_account.ts";
import { type Browser, type PeopleContext, requireMember } from "./people_context.ts";
import { type MemberSession, openMemberSession } from "./sign_in.ts";
import {
  type BrowserAnswer,
  type CreationOptions,
  creationOptions,
  type MadePasskey,
  type RequestOptions,
  requestOptions,
  verifyCreation,
  verifySignature,
} from "./verify_passkey.ts";
import { base64url } from "../../core/base64url.ts";

/** A passkey as its owner sees it. Times are ISO 8601. */
export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly usedAt: string | null;
}

/** The caller's passkeys, the oldest first. Errors: `person_required`, `member_required`. */
export async function listPasskeys({ control, caller }: AccountContext): Promise<PasskeyView[]> {
  requireMember(caller);
  return (await control.passkeys.list(caller.memberId)).map(passkeyView);
}

/**
 * Removes a passkey of the caller. Errors: `passkey_not_found`, `last_way_in`, `sign_in_again`, those of `listPasskeys`.
 */
export async function removePasskey(ctx: AccountContext, id: string): Promise<{ id: string }> {
  const { caller } = ctx;
  requireMember(caller);
  requireFresh(caller, ctx.clock.now());
  const act = withOwnAct(ctx, { ...caller, id: caller.memberId }, { action: "passkey.removed", target: id });
  const outcome = await ctx.control.passkeys.remove(caller, id, act);
  if (!outcome.ok) throw new AppError(outcome.reason === "unknown" ? "passkey_not_found" : outcome.reason);
  return { id };
}

/** What the browser needs to make one. Errors: `sign_in_again`, `passkeys_unavailable`, those of `listPasskeys`. */
export async function beginPasskey(ctx: AccountContext): Promise<CreationOptions> {
  const { caller } = ctx;
  requireMember(caller);
  requireFresh(caller, ctx.clock.now());
  const { id: memberId, email, name } = await ownRecord(ctx, caller);
  const passkeys = await ctx.control.passkeys.list(memberId);
  return await creationOptions(ctx, { purpose: "register", subject: caller.sessionId }, {
    memberId,
    email,
    name,
    passkeys,
  });
}

/**
 * Adds what the browser has made. Errors: `passkey_refused`, `validation_failed` above the most, `session_ended`, those of
 * `beginPasskey`.
 */
export async function addPasskey(
  ctx: AccountContext,
  { name, answer }: { readonly name: string; readonly answer: BrowserAnswer },
): Promise<PasskeyView> {
  const { caller } = ctx;
  requireMember(caller);
  requireFresh(caller, ctx.clock.now());
  const made = await verifyCreation(ctx, { purpose: "register", subject: caller.sessionId }, answer);
  if (made === null) throw new AppError("passkey_refused");
  const { namespaceId, memberId, epoch } = caller;
  const record = recordOf(ctx, made, { namespaceId, memberId, name });
  const act = withOwnAct(ctx, { ...caller, id: memberId }, { action: "passkey.added", target: record.id });
  const outcome = await ctx.control.passkeys.add(record, made.challenge, epoch, act);
  if (!outcome.ok) throw refusalOf(outcome.reason);
  return passkeyView(record);
}

/** What the browser needs to sign in with any passkey of this service. Errors: `passkeys_unavailable`. */
export async function beginPasskeySignIn(ctx: PeopleContext): Promise<RequestOptions> {
  return await requestOptions(ctx, { purpose: "sign_in", subject: "" }, null);
}

/** Signs in as the member whose passkey answered. Errors: `passkey_refused`, `sign_in_locked`, `passkeys_unavailable`. */
export async function signInByPasskey(
  ctx: PeopleContext,
  { answer, browser }: { readonly answer: BrowserAnswer; readonly browser: Browser },
): Promise<MemberSession> {
  const member = await provenMember(ctx, answer, browser.address);
  const namespace = await ctx.control.namespaces.byId(member.namespaceId);
  if (namespace === null) throw new AppError("passkey_refused");
  return { ...await openMemberSession(ctx, member, browser), namespaceSlug: namespace.slug };
}

async function provenMember(
  ctx: PeopleContext,
  answer: BrowserAnswer,
  address: string,
): Promise<MemberRecord> {
  const guessed = {
    account: ["passkey", answer.id],
    // Passkeys still work where passwords were guessed at.
    address: `${address} by passkey`,
    failure: "passkey_refused",
  } as const;
  return await guess(ctx, guessed, async () => {
    const found = await ctx.control.passkeys.byCredential(answer.id);
    // The authenticator says whose key it is: it has to be the one whom this service knows by it.
    if (found === null || answer.response.userHandle !== userHandleOf(found.member.id)) return null;
    const use = { purpose: "sign_in", subject: "" } as const;
    const signed = await verifySignature(ctx, use, { answer, passkey: found.passkey });
    if (signed === null) return null;
    const counts = await ctx.control.passkeys.use(found.passkey, signed.counter, signed.challenge);
    return counts ? found.member : null;
  });
}

/** What the browser needs to confirm who the caller is. Errors: `passkey_not_found` without one, `passkeys_unavailable`. */
export async function beginPasskeyConfirmation(ctx: AccountContext): Promise<RequestOptions> {
  const { caller } = ctx;
  requireMember(caller);
  const passkeys = await ctx.control.passkeys.list(caller.memberId);
  if (passkeys.length === 0) throw new AppError("passkey_not_found");
  return await requestOptions(ctx, { purpose: "confirm", subject: caller.sessionId }, passkeys);
}

/**
 * Makes the session that asks as new as one that has just begun. Errors: `passkey_refused`, `sign_in_locked`,
 * `session_ended`, those of `listPasskeys`.
 */
export async function confirmByPasskey(ctx: AccountContext, answer: BrowserAnswer): Promise<void> {
  const { caller } = ctx;
  requireMember(caller);
  // Not counted with sign-ins: there a stranger names the account, and could name this one.
  const account = ["confirm by passkey", caller.memberId];
  const guessed = { account, address: null, failure: "passkey_refused" } as const;
  await guess(ctx, guessed, async () => {
    const found = await ctx.control.passkeys.byCredential(answer.id);
    if (found?.member.id !== caller.memberId) return null;
    const use = { purpose: "confirm", subject: caller.sessionId } as const;
    const signed = await verifySignature(ctx, use, { answer, passkey: found.passkey });
    if (signed === null) return null;
    return await ctx.control.passkeys.use(found.passkey, signed.counter, signed.challenge) ? true : null;
  });
  await confirmSession(ctx, caller);
}

/** What the browser needs to come in by a link with a passkey. Errors: `link_not_found`, those of `acceptLink` on `email`. */
export async function beginLinkPasskey(
  ctx: PeopleContext,
  input: Pick<Newcomer, "token" | "email" | "name">,
): Promise<CreationOptions> {
  const open = await openLink(ctx, input.token);
  const { memberId } = open.link;
  const name = input.name ?? open.member?.name ?? null;
  return await creationOptions(ctx, { purpose: "link", subject: open.hash }, {
    memberId,
    email: emailOf(open, input),
    name,
    passkeys: [],
  });
}

/** Comes in with a passkey and no password. Errors: `passkey_refused`, those of `acceptLink`. */
export async function acceptLinkByPasskey(
  ctx: PeopleContext,
  input: Newcomer & { readonly passkeyName: string; readonly answer: BrowserAnswer },
): Promise<MemberSession> {
  const open = await openLink(ctx, input.token);
  const made = await verifyCreation(ctx, { purpose: "link", subject: open.hash }, input.answer);
  if (made === null) throw new AppError("passkey_refused");
  const { namespaceId, memberId } = open.link;
  const record = recordOf(ctx, made, { namespaceId, memberId, name: input.passkeyName });
  return await comeIn(ctx, open, input, {
    passwordHash: null,
    passkey: { record, challenge: made.challenge },
  });
}

function recordOf(
  { clock }: PeopleContext,
  { credential }: MadePasskey,
  owner: Pick<PasskeyRecord, "namespaceId" | "memberId" | "name">,
): PasskeyRecord {
  const now = clock.now();
  return { ...credential, ...owner, id: newId("pky", now), createdAt: now, usedAt: null };
}

function refusalOf(reason: (PasskeyOutcome & { readonly ok: false })["reason"]): AppError {
  if (reason === "member_changed") return new AppError("session_ended");
  if (reason !== "too_many") return new AppError("passkey_refused");
  return invalidInput("answer", `Remove a passkey first; a member has at most ${MAX_PASSKEYS}`);
}

/** As the authenticator keeps the member's id: base64url of its characters. */
function userHandleOf(memberId: string): string {
  return base64url(new TextEncoder().encode(memberId));
}

function passkeyView({ id, name, createdAt, usedAt }: PasskeyRecord): PasskeyView {
  return { id, name, createdAt: isoTime(createdAt), usedAt: usedAt === null ? null : isoTime(usedAt) };
}
