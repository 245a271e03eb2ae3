// What the services behind `/api` work with: the process's parts and who asks.
import type { Caller } from "../access/caller.ts";
import type { Ledger } from "../control/balance/ledger.ts";
import type { ControlPlane } from "../control/control_plane.ts";
import type { Clock } from "../core/clock.ts";
import type { TenantStore } from "../tenant/tenant_store.ts";

export interface ManageContext {
  readonly control: ControlPlane;
  readonly ledger: Ledger;
  readonly tenants: TenantStore;
  /** Credit of a new namespace. */
  readonly welcomeCreditNanoUsd: number;
  readonly clock: Clock;
  readonly caller: Caller;
}
