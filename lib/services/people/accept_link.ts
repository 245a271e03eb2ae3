// People come in by a link: it is looked at without using it up, and used up with what lets them come again, a password or
// a passkey.
import { isToken, tokenHash } from "../../access/token_format.ts";
import { type Acceptance, letsIn } from "../../control/one_time_links.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import type { MemberRole } from "../../core/role.ts";
import type { LinkRecord, MemberRecord } from "../../store/people_records.ts";
import { normalEmail } from "./normal_email.ts";
import { withOwnAct } from "./with_own_act.ts";
import type { Browser, PeopleContext } from "./people_context.ts";
import { CONSOLE_OWNER, type MemberSession, openMemberSession } from "./sign_in.ts";
import { strongPassword } from "./strong_password.ts";

/** What the page of a link shows. */
export interface LinkView {
  readonly kind: LinkRecord["kind"];
  readonly namespaceSlug: string;
  readonly namespaceName: string;
  readonly role: MemberRole;
  /** Of the invited member; null where whoever comes says it. */
  readonly email: string | null;
  readonly name: string | null;
  /** Whether somebody has come by a link of this member before: it is a new start. */
  readonly again: boolean;
  readonly expiresAt: string;
}

/** A link that is good, with whom it is for. */
export interface OpenLink {
  readonly hash: string;
  readonly link: LinkRecord;
  readonly namespace: { readonly slug: string; readonly name: string };
  /** Null for the first admin, who is not there yet. */
  readonly member: MemberRecord | null;
}

/** What a link is for; looking uses nothing up. Errors: `link_not_found`. */
export async function readLink(ctx: PeopleContext, token: string): Promise<LinkView> {
  const { link, namespace, member } = await openLink(ctx, token);
  return {
    kind: link.kind,
    namespaceSlug: namespace.slug,
    namespaceName: namespace.name,
    role: member?.role ?? "admin",
    email: member?.email ?? null,
    name: member?.name ?? null,
    again: member !== null && member.joinedAt !== null,
    expiresAt: isoTime(link.untilMs),
  };
}

/** Errors: `link_not_found`. */
export async function openLink({ control }: PeopleContext, token: string): Promise<OpenLink> {
  if (!isToken("pinv_", token) && !isToken("pstart_", token)) throw new AppError("link_not_found");
  const hash = tokenHash(token);
  const link = await control.links.find(hash);
  if (link === null) throw new AppError("link_not_found");
  const namespace = await control.namespaces.byId(link.namespaceId);
  const member = link.kind === "invitation"
    ? await control.members.byId(link.namespaceId, link.memberId)
    : null;
  const isOpen = link.kind === "start" || (member !== null && letsIn(link, member));
  if (namespace === null || !isOpen) throw new AppError("link_not_found");
  return { hash, link, namespace, member };
}

/** Who comes in. */
export interface Newcomer {
  readonly token: string;
  /** Asked for by a start link only; an invitation has its member's. */
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly browser: Browser;
}

/**
 * Comes in with a password. Errors: `link_not_found`, `validation_failed` (`password`, `email`), `member_exists`,
 * `hashing_busy`, those of `openPersonSession`.
 */
export async function acceptLink(
  ctx: PeopleContext,
  input: Newcomer & { readonly password: string },
): Promise<MemberSession> {
  const open = await openLink(ctx, input.token);
  const email = emailOf(open, input);
  const about = [email, input.name ?? open.member?.name ?? "", open.namespace.slug];
  const password = await strongPassword(input.password, about);
  const passwordHash = await ctx.passwords.hash(CONSOLE_OWNER, password);
  return await comeIn(ctx, open, input, { passwordHash, passkey: null });
}

/** How the newcomer will come again. */
export interface Credentials {
  readonly passwordHash: string | null;
  readonly passkey: Acceptance["passkey"];
}

/** Uses the link up and signs in. Errors: `link_not_found`, `member_exists`, `passkey_refused`. */
export async function comeIn(
  ctx: PeopleContext,
  open: OpenLink,
  input: Newcomer,
  { passwordHash, passkey }: Credentials,
): Promise<MemberSession> {
  const now = ctx.clock.now();
  const { namespaceId, memberId: id } = open.link;
  const firstAdmin: MemberRecord = {
    id,
    namespaceId,
    email: emailOf(open, input),
    name: null,
    role: "admin",
    passwordHash: null,
    epoch: 0,
    createdAt: now,
    joinedAt: null,
    vouched: true,
  };
  const facts = { by: open.link.kind, with: passkey === null ? "password" : "passkey" };
  const outcome = await ctx.control.links.accept(open.hash, {
    member: (current) => {
      const before = current ?? firstAdmin;
      const name = input.name ?? before.name;
      return { ...before, name, passwordHash, epoch: before.epoch + 1, joinedAt: now };
    },
    passkey,
    also: (commit, member) => withOwnAct(ctx, member, { action: "member.joined", facts })(commit),
  });
  if (!outcome.ok) {
    if (outcome.reason === "link_gone") throw new AppError("link_not_found");
    throw new AppError(outcome.reason === "email_taken" ? "member_exists" : "passkey_refused");
  }
  const session = await openMemberSession(ctx, outcome.member, input.browser);
  return { ...session, namespaceSlug: open.namespace.slug };
}

/** Errors: `validation_failed` where the link does not know the address and nobody has said it. */
export function emailOf({ member }: OpenLink, { email }: Pick<Newcomer, "email">): string {
  const known = member?.email ?? (email === undefined ? "" : normalEmail(email));
  if (known !== "") return known;
  throw invalidInput("email", "Send the address by which you will sign in");
}
