// Signs a person in: a member by address and password, the operator by the key. What is unknown looks like what is wrong,
// in words and in time.
import { isOperatorKey } from "../../access/authenticate.ts";
import { normalPassword } from "../../access/password_hash.ts";
import type { MemberRecord } from "../../store/people_records.ts";
import type { Also } from "../../store/until_committed.ts";
import { guess, type Guessed } from "./guess.ts";
import { normalEmail } from "./normal_email.ts";
import { withOwnAct } from "./with_own_act.ts";
import { type OpenedSession, openPersonSession } from "./open_person_session.ts";
import type { Browser, PeopleContext } from "./people_context.ts";

/** The owner under which the console's hashes are bounded: no namespace's users can take all of them. */
export const CONSOLE_OWNER = "console";

/** A member's session. */
export interface MemberSession extends OpenedSession {
  readonly namespaceSlug: string;
}

/** What a member types. */
export interface PasswordSignIn {
  readonly namespaceSlug: string;
  readonly email: string;
  readonly password: string;
  readonly browser: Browser;
}

/** Errors: `sign_in_failed`, `sign_in_locked`, `hashing_busy`, `session_ended`, `meter_unreachable`. */
export async function signInByPassword(ctx: PeopleContext, input: PasswordSignIn): Promise<MemberSession> {
  const { namespaceSlug, password, browser } = input;
  const email = normalEmail(input.email);
  const guessed = { account: accountOf(namespaceSlug, email), address: browser.address, knowsPlaces: true };
  const member = await guess(ctx, guessed, async () => {
    const namespace = await ctx.control.namespaces.bySlug(namespaceSlug);
    const found = await ctx.control.members.byEmail(namespace?.id ?? "nowhere", email);
    return await hasPassword(ctx, found, password) ? found : null;
  });
  return { ...await openMemberSession(ctx, member, browser), namespaceSlug };
}

/** The count of guesses at a member's password by whoever is not signed in, wherever they are made. */
export function accountOf(namespaceSlug: string, email: string): string[] {
  return ["password", namespaceSlug, email];
}

/** Compares as long for nobody as for somebody. Errors: `hashing_busy`. */
export async function hasPassword(
  { passwords }: Pick<PeopleContext, "passwords">,
  member: MemberRecord | null,
  password: string,
): Promise<boolean> {
  return await passwords.verify(CONSOLE_OWNER, normalPassword(password), member?.passwordHash ?? null);
}

/**
 * A session for a member as it was when it proved who it is, with its note in the audit. Errors: those of
 * `openPersonSession`.
 */
export async function openMemberSession(
  ctx: PeopleContext,
  member: MemberRecord,
  { agent, replaced }: Browser,
): Promise<OpenedSession> {
  const { namespaceId, id: memberId, epoch: provedEpoch } = member;
  const owner = { kind: "member", namespaceId, memberId } as const;
  const also: Also<[string]> = (commit, target) =>
    withOwnAct(ctx, member, { action: "member.signed_in", target })(commit);
  return await openPersonSession(ctx, { owner, provedEpoch, agent, replaced, also });
}

/** The key is compared by its hash. Errors: `sign_in_failed`, `sign_in_locked`, `meter_unreachable`. */
export async function signInByOperatorKey(
  ctx: PeopleContext,
  { operatorKey, browser }: { readonly operatorKey: string; readonly browser: Browser },
): Promise<OpenedSession> {
  const { address } = browser;
  // Guesses from elsewhere do not lock the operator out.
  await guessOperatorKey(ctx, operatorKey, { account: ["operator", address], address });
  const { agent, replaced } = browser;
  const owner = { kind: "operator" } as const;
  const session = await openPersonSession(ctx, { owner, provedEpoch: null, agent, replaced });
  ctx.log("info", "operator_signed_in", { sessionId: session.sessionId });
  return session;
}

/** Errors: `sign_in_failed`, `sign_in_locked`, `meter_unreachable`. */
export async function guessOperatorKey(
  ctx: PeopleContext,
  operatorKey: string,
  guessed: Guessed,
): Promise<void> {
  await guess(ctx, guessed, () => {
    const right = isOperatorKey(ctx, operatorKey);
    if (!right) ctx.log("warn", "operator_sign_in_refused");
    return Promise.resolve(right ? true : null);
  });
}
