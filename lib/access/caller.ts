// The caller whom a bearer or a session proves, and the checks of what a caller may do.
import { MINUTE_MS } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { type MemberRole, type Role, roleAtLeast } from "../core/role.ts";
import type { ScopeRow } from "../store/records.ts";

/** The holder of an API token. */
export interface TokenCaller {
  readonly kind: "token";
  readonly tokenId: string;
  readonly name: string;
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  readonly role: Role;
  /** Empty: the whole namespace. */
  readonly scopes: readonly ScopeRow[];
  /** Unix milliseconds. */
  readonly expiresAt: number | null;
}

/** The holder of the operator key: an admin of every namespace, under `/api` and in the console. */
export interface OperatorCaller {
  readonly kind: "operator";
  /** Where the key was sent at sign-in; absent where it came with this very request. */
  readonly session?: {
    /** `ses_…`. */
    readonly sessionId: string;
    /** Unix milliseconds: the last proof of who it is. */
    readonly signedInAt: number;
  };
}

/** A person who has signed in to the console of one namespace. */
export interface MemberCaller {
  readonly kind: "member";
  /** `mem_…`. */
  readonly memberId: string;
  readonly email: string;
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  readonly role: MemberRole;
  /** The member's `epoch` when the session was looked at: with another one it has ended since. */
  readonly epoch: number;
  /** `ses_…`. */
  readonly sessionId: string;
  /** Unix milliseconds: the last proof of who it is. */
  readonly signedInAt: number;
}

/** Whom a session of the console proves. */
export type PersonCaller = OperatorCaller | MemberCaller;

/** Whoever calls `/api`, by bearer or by session. */
export type Caller = PersonCaller | TokenCaller;

/** Milliseconds for which a person need not prove again who it is. */
export const FRESH_MS = 15 * MINUTE_MS;

/** What logs, audits and decisions name as the author: the id of the token or member, or `operator`. */
export function callerId(caller: Caller): string {
  if (caller.kind === "operator") return "operator";
  return caller.kind === "token" ? caller.tokenId : caller.memberId;
}

/** What they name beside that id: the name of the token, the address of the member, or `the operator`. */
export function callerName(caller: Caller): string {
  if (caller.kind === "operator") return "the operator";
  return caller.kind === "member" ? caller.email : caller.name;
}

/**
 * Requires of a person that the last proof of who it is be at most 15 minutes old: for what cannot be taken back. API
 * tokens, and the operator key itself, prove it with every request. Errors: `sign_in_again`.
 */
export function requireFresh(caller: Caller, nowMs: number): void {
  if (caller.kind === "token") return;
  const signedInAt = caller.kind === "member" ? caller.signedInAt : caller.session?.signedInAt ?? nowMs;
  // One of a clock that has been put back since would count for as long as that clock was ahead.
  if (Math.abs(nowMs - signedInAt) >= FRESH_MS) throw new AppError("sign_in_again");
}

/**
 * Requires a person who may decide in the namespace: the operator, or an admin member; never an API token, whatever its
 * role. Errors: `person_required`, `namespace_mismatch`, `role_too_low`.
 */
export function requirePerson(caller: Caller, namespaceSlug: string): asserts caller is PersonCaller {
  if (caller.kind === "token") throw new AppError("person_required");
  requireNamespaceAdmin(caller, namespaceSlug);
}

/** Requires a role. Errors: `role_too_low`, naming the wanted role, then the current one. */
export function requireRole(actual: { readonly role: Role }, needed: Role): void {
  if (roleAtLeast(actual.role, needed)) return;
  throw new AppError("role_too_low", {
    message: `Use a token with role ${needed} here; this one has ${actual.role}`,
  });
}

/** Requires the operator, for calls that concern every namespace. Errors: `operator_required`. */
export function requireOperator(caller: Caller): void {
  if (caller.kind !== "operator") throw new AppError("operator_required");
}

/**
 * Requires a caller who may look at a namespace: any member of it, an unscoped admin token of it, or the operator.
 * Errors: as `requireNamespaceAdmin`.
 */
export function requireNamespaceReader(caller: Caller, namespaceSlug: string): void {
  if (caller.kind !== "member") return requireNamespaceAdmin(caller, namespaceSlug);
  requireOwnNamespace(caller, namespaceSlug);
}

/**
 * Requires a caller who may manage a namespace: an admin member or an unscoped admin token of it, or the operator.
 * Errors: `namespace_mismatch`, `out_of_scope`, `role_too_low`.
 */
export function requireNamespaceAdmin(caller: Caller, namespaceSlug: string): void {
  if (caller.kind === "operator") return;
  requireOwnNamespace(caller, namespaceSlug);
  if (caller.kind === "member") {
    if (caller.role === "admin") return;
    throw new AppError("role_too_low", {
      message: `Have an admin of this namespace do it; you are ${article(caller.role)} here`,
    });
  }
  if (caller.scopes.length > 0) {
    throw new AppError("out_of_scope", {
      message: "Use a token without scopes to manage the namespace; this one reaches listed databases only",
    });
  }
  requireRole(caller, "admin");
}

function requireOwnNamespace(caller: MemberCaller | TokenCaller, namespaceSlug: string): void {
  if (caller.namespaceSlug === namespaceSlug) return;
  throw new AppError(
    "namespace_mismatch",
    caller.kind === "token" ? {} : { message: "Sign in to this namespace; your session is of another one" },
  );
}

function article(role: MemberRole): string {
  return role === "viewer" ? "a viewer" : `an ${role}`;
}
