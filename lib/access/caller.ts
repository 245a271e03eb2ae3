// The caller whom a bearer proves, and the checks of what a caller may do.
import { AppError } from "../core/errors.ts";
import { type Role, roleAtLeast } from "../core/role.ts";
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

/** The holder of the operator key: an admin of every namespace, under `/api` only. */
export interface OperatorCaller {
  readonly kind: "operator";
}

/** Whoever sends a bearer under `/api`. */
export type Caller = OperatorCaller | TokenCaller;

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
 * Requires a caller who may manage a namespace: an unscoped admin token of it, or the operator. Errors:
 * `namespace_mismatch`, `out_of_scope`, `role_too_low`.
 */
export function requireNamespaceAdmin(caller: Caller, namespaceSlug: string): void {
  if (caller.kind === "operator") return;
  if (caller.namespaceSlug !== namespaceSlug) throw new AppError("namespace_mismatch");
  if (caller.scopes.length > 0) {
    throw new AppError("out_of_scope", {
      message: "Use a token without scopes to manage the namespace; this one reaches listed databases only",
    });
  }
  requireRole(caller, "admin");
}
