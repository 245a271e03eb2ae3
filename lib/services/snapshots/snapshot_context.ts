// What the snapshot services need of a request: the store, the database addressed and the clock.
import type { Target } from "../../access/resolve_target.ts";
import type { Clock } from "../../core/clock.ts";
import type { TenantDatabase, TenantStore } from "../../tenant/tenant_store.ts";

export interface SnapshotContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly target: Target;
}

export function databaseOf({ tenants, target }: SnapshotContext): TenantDatabase {
  return tenants.open(target.databaseId, target.namespaceId);
}
