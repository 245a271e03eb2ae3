// Who a bearer is, in its own eyes.
import type { TokenCaller } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import type { Role } from "../../core/role.ts";
import type { ScopeRow } from "../../store/records.ts";

export interface CallerView {
  readonly namespace: string;
  readonly tokenId: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly ScopeRow[];
  readonly expiresAt: string | null;
}

export function describeCaller(caller: TokenCaller): CallerView {
  const { namespaceSlug, tokenId, name, role, scopes, expiresAt } = caller;
  return {
    namespace: namespaceSlug,
    tokenId,
    name,
    role,
    scopes,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
  };
}
