// The members of a namespace: added with an invitation, listed, changed, removed. A token that could make an admin could
// approve its own writes: so whatever concerns an admin takes a person.
import { type Caller, requireFresh, requirePerson } from "../../access/caller.ts";
import { newToken, tokenHash } from "../../access/token_format.ts";
import type { PageInput } from "../../control/list_page.ts";
import type { ChangeOutcome, MemberChange } from "../../control/members.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { INVITATION_MS } from "../../core/limits.ts";
import type { MemberRole } from "../../core/role.ts";
import type { LinkRecord, MemberRecord } from "../../store/people_records.ts";
import type { Also } from "../../store/until_committed.ts";
import { withAct } from "../note_act.ts";
import type { ManageContext } from "../manage_context.ts";
import { readableNamespace, requireNamespace } from "../namespaces/namespace_record.ts";
import { inviteUrl } from "./link_urls.ts";
import { normalEmail } from "./normal_email.ts";
import { requireCursor, type ShownPage } from "../shown_page.ts";

/** What they need of a request. */
export interface MembersContext extends ManageContext {
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
}

/** A member as the API shows it. */
export interface MemberView {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: MemberRole;
  /** `invited`: has not come yet. */
  readonly state: "invited" | "active";
  readonly createdAt: string;
  readonly joinedAt: string | null;
}

/** With the link that lets them in; it is in this answer and nowhere else. */
export interface InvitedMember extends MemberView {
  readonly inviteUrl: string;
  readonly inviteExpiresAt: string;
}

/** Which member. */
export interface MemberAddress {
  readonly namespaceSlug: string;
  readonly id: string;
}

/**
 * Adds a member, who comes in by the link of the answer. Errors: `member_exists`, `too_many_members`,
 * `person_required` for an admin made by a token, `sign_in_again`, those of `requireNamespace`.
 */
export async function addMember(
  ctx: MembersContext,
  input: { readonly namespaceSlug: string; readonly email: string; readonly role: MemberRole },
): Promise<InvitedMember> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requirePersonForAdmin(ctx.caller, input.namespaceSlug, input.role);
  requireFresh(ctx.caller, ctx.clock.now());
  const now = ctx.clock.now();
  const record: MemberRecord = {
    id: newId("mem", now),
    namespaceId: namespace.id,
    email: normalEmail(input.email),
    name: null,
    role: input.role,
    passwordHash: null,
    epoch: 0,
    createdAt: now,
    joinedAt: null,
    vouched: false,
  };
  const invitation = invitationOf(ctx, record);
  const outcome = await ctx.control.members.add(record, (commit) => {
    const { hash, link } = invitation;
    return withMember(ctx, "member.invited")(ctx.control.links.inviteNew(commit, hash, link), record);
  });
  if (!outcome.ok) throw new AppError(notAdded[outcome.reason]);
  return invited(ctx, record, invitation);
}

const notAdded = {
  email_taken: "member_exists",
  too_many: "too_many_members",
  namespace_gone: "namespace_not_found",
} as const;

/** The members of a namespace. Errors: `validation_failed` for a cursor that is none, those of `readableNamespace`. */
export async function listMembers(
  ctx: ManageContext,
  input: PageInput & { readonly namespaceSlug: string },
): Promise<ShownPage<MemberView>> {
  requireCursor(input.cursor, "mem");
  const namespace = await readableNamespace(ctx, input.namespaceSlug);
  const { records, nextCursor } = await ctx.control.members.list(namespace.id, input);
  return { items: records.map(memberView), nextCursor };
}

/** Who came in by a link of a token may be that token: an admin comes in by a person's invitation. */
const anew = { passwordHash: null, joinedAt: null } as const;

/**
 * Changes name and role; another role ends the member's sessions. Who came in by a token's link and becomes an admin has
 * to be invited again. Errors: `member_not_found`, `last_admin`, `person_required`, `sign_in_again`, those of
 * `requireNamespace`.
 */
export async function changeMember(
  ctx: ManageContext,
  input: MemberAddress & { readonly role?: MemberRole | undefined; readonly name?: string | undefined },
): Promise<MemberView> {
  const { role, name } = input;
  const current = await requireChangeable(ctx, input);
  if (role !== undefined) requirePersonForAdmin(ctx.caller, input.namespaceSlug, role);
  return await change(ctx, current, "member.changed", (now) => ({
    ...now,
    ...(role === undefined ? {} : { role }),
    ...(name === undefined ? {} : { name }),
    ...(role === "admin" && now.role !== "admin" && !now.vouched ? anew : {}),
  }));
}

/**
 * Removes a member, with its sessions, passkeys and invitation. Errors: `member_not_found`, `last_admin`,
 * `person_required`, `sign_in_again`, those of `requireNamespace`.
 */
export async function removeMember(ctx: ManageContext, input: MemberAddress): Promise<MemberView> {
  const current = await requireChangeable(ctx, input);
  return await change(ctx, current, "member.removed", () => null);
}

/**
 * A new link for a member, which ends the one before: for somebody who has lost it, or the password. Whoever opens it
 * starts afresh, without the passkeys and sessions so far. Errors: `member_not_found`, `person_required`,
 * `sign_in_again`, those of `requireNamespace`.
 */
export async function inviteMember(ctx: MembersContext, input: MemberAddress): Promise<InvitedMember> {
  const record = await requireChangeable(ctx, input);
  const invitation = invitationOf(ctx, record);
  const act = withMember(ctx, "member.invited");
  const { hash, link } = invitation;
  if (!await ctx.control.links.invite(hash, link, (commit) => act(commit, record))) {
    throw new AppError("member_not_found");
  }
  return invited(ctx, record, invitation);
}

async function requireChangeable(ctx: ManageContext, input: MemberAddress): Promise<MemberRecord> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const record = await ctx.control.members.byId(namespace.id, input.id);
  if (record === null) throw new AppError("member_not_found");
  requirePersonForAdmin(ctx.caller, input.namespaceSlug, record.role);
  return record;
}

function requirePersonForAdmin(caller: Caller, namespaceSlug: string, role: MemberRole): void {
  if (role === "admin") requirePerson(caller, namespaceSlug);
}

/** The operator alone may leave a namespace without an admin: it can make another one. */
async function change(
  ctx: ManageContext,
  seen: MemberRecord,
  action: "member.changed" | "member.removed",
  to: MemberChange["change"],
): Promise<MemberView> {
  const outcome: ChangeOutcome = await ctx.control.members.change({
    namespaceId: seen.namespaceId,
    memberId: seen.id,
    keepAdmin: ctx.caller.kind !== "operator",
    change: (now) => {
      // Made admin since it was looked at: what a token may do with the one is not what it may with the other.
      if (now.role !== seen.role && ctx.caller.kind === "token") throw new AppError("person_required");
      return to(now);
    },
    also: withMember(ctx, action),
  });
  if (outcome.ok) return memberView(outcome.record);
  throw new AppError(outcome.reason === "member_gone" ? "member_not_found" : "last_admin");
}

interface Invitation {
  readonly token: string;
  readonly hash: string;
  readonly link: LinkRecord;
}

function invitationOf(ctx: ManageContext, { namespaceId, id: memberId }: MemberRecord): Invitation {
  const token = newToken("pinv_");
  const untilMs = ctx.clock.now() + INVITATION_MS;
  const byPerson = ctx.caller.kind !== "token";
  const link = { kind: "invitation", namespaceId, memberId, byPerson, untilMs } as const;
  return { token, hash: tokenHash(token), link };
}

function invited(ctx: MembersContext, record: MemberRecord, { token, link }: Invitation): InvitedMember {
  return {
    ...memberView(record),
    inviteUrl: inviteUrl(ctx.baseUrl, token),
    inviteExpiresAt: isoTime(link.untilMs),
  };
}

function withMember(
  ctx: ManageContext,
  action: "member.invited" | "member.changed" | "member.removed",
): Also<[MemberRecord]> {
  return (commit, { namespaceId, id: target, email, role }) =>
    withAct(ctx, action, { namespaceId, target, facts: { email, role } })(commit);
}

/** A member's record as the API shows it: no hash, and nothing of how it signs in. */
function memberView({ id, email, name, role, createdAt, joinedAt }: MemberRecord): MemberView {
  return {
    id,
    email,
    name,
    role,
    state: joinedAt === null ? "invited" : "active",
    createdAt: isoTime(createdAt),
    joinedAt: joinedAt === null ? null : isoTime(joinedAt),
  };
}
