// Whoever a request's bearer proves.
import type { Role } from "../core/role.ts";
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

export type Caller = OperatorCaller | TokenCaller;
