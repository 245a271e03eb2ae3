// What the services for people need of the process and of a request, and who is meant by a session.
import { type Caller, callerId, type MemberCaller, type PersonCaller } from "../../access/caller.ts";
import type { PasswordHasher } from "../../access/password_hash.ts";
import type { KeyedHashes } from "../../control/keyed_hashes.ts";
import type { LoginGuesses } from "../../control/login_guesses.ts";
import type { LoginFailures } from "../../control/login_failures.ts";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { SessionOwner } from "../../store/people_records.ts";
import type { AuthContext } from "../../access/authenticate.ts";

/** Parts of the process, for whoever signs in. */
export interface PeopleContext extends AuthContext {
  /** Prefix of absolute URLs, and the origin of passkeys. */
  readonly baseUrl: string;
  readonly hashes: KeyedHashes;
  readonly passwords: PasswordHasher;
  /** Guesses that failed: at one account, and from one address. */
  readonly failures: { readonly ofAccount: LoginFailures; readonly ofAddress: LoginFailures };
  /** Addresses from which members have signed in by their passwords. */
  readonly places: Pick<LoginGuesses, "isKnownPlace" | "remember">;
  readonly log: Log;
}

/** The other end of a request in which somebody proves who they are. */
export interface Browser {
  /** What counts as one address, as text. */
  readonly address: string;
  /** `User-Agent`. */
  readonly agent: string | null;
  /** The value of the cookie that it sent: that session ends. */
  readonly replaced: string | null;
}

/** Requires a person who asks about itself. Errors: `person_required`. */
export function requireSelf(caller: Caller): asserts caller is PersonCaller {
  if (caller.kind === "token") {
    throw new AppError("person_required", { message: "Sign in to the console; a token has no account here" });
  }
}

/** The same for a member. Errors: `person_required`, `member_required`. */
export function requireMember(caller: Caller): asserts caller is MemberCaller {
  requireSelf(caller);
  if (caller.kind === "operator") throw new AppError("member_required");
}

/** Whose sessions those of the caller are. */
export function ownerOf(caller: PersonCaller): SessionOwner {
  if (caller.kind === "operator") return { kind: "operator" };
  return { kind: "member", namespaceId: caller.namespaceId, memberId: callerId(caller) };
}

/** `ses_…`; null where the operator key came with the request itself. */
export function sessionIdOf(caller: PersonCaller): string | null {
  return caller.kind === "operator" ? caller.session?.sessionId ?? null : caller.sessionId;
}
