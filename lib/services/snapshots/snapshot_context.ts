// What the snapshot services need of a request: the store, the database addressed, its caller and the clock.
import type { TokenCaller } from "../../access/caller.ts";
import type { Target } from "../../access/resolve_target.ts";
import type { Clock } from "../../core/clock.ts";
import type { TenantDatabase, TenantStore } from "../../tenant/tenant_store.ts";

export interface SnapshotContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly target: Target;
  readonly token: TokenCaller;
}

export function databaseOf({ tenants, target }: SnapshotContext): TenantDatabase {
  return tenants.open(target.databaseId, target.namespaceId);
}
