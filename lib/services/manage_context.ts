// What the services behind `/api` share: the process's parts, the caller, and the confirmation of deletions.
import type { Caller } from "../access/caller.ts";
import type { Ledger } from "../control/balance/ledger.ts";
import type { ControlPlane } from "../control/control_plane.ts";
import type { Clock } from "../core/clock.ts";
import { invalidInput } from "../core/errors.ts";
import type { TenantStore } from "../tenant/tenant_store.ts";

/** What a management call needs. */
export interface ManageContext {
  readonly control: ControlPlane;
  readonly ledger: Ledger;
  readonly tenants: TenantStore;
  /** Credit of a new namespace. */
  readonly welcomeCreditNanoUsd: number;
  readonly clock: Clock;
  readonly caller: Caller;
}

/**
 * A deletion names what it deletes twice: in the path and in the body. Errors: `validation_failed` on `confirm`.
 */
export function requireConfirm(confirm: string, slug: string): void {
  if (confirm === slug) return;
  throw invalidInput("confirm", "Send the slug of what is to be deleted");
}
