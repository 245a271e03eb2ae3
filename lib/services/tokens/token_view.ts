// A token record as the API shows it: everything but the token.
import { isoTime } from "../../core/clock.ts";
import type { Role } from "../../core/role.ts";
import type { ScopeRow, TokenRecord } from "../../store/records.ts";

export interface TokenView {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly ScopeRow[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export function tokenView({ id, name, role, scopes, createdAt, expiresAt }: TokenRecord): TokenView {
  return {
    id,
    name,
    role,
    scopes,
    createdAt: isoTime(createdAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  };
}
