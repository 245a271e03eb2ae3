// Says that the archive of a database is behind, to the webhooks that want to know.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

/** How late it is. */
export interface LateBackup {
  readonly databaseId: string;
  /** Unix milliseconds of the last state that is in the archive; null: there is none. */
  readonly archivedAt: number | null;
  /** Null as well then. */
  readonly lagSec: number | null;
}

/** To be called once when it becomes late. Errors: `meter_unreachable`. */
export async function noteBackupLate(
  { control, clock, tenants }: {
    readonly control: Pick<ControlPlane, "webhooks">;
    readonly clock: Clock;
    readonly tenants: Pick<TenantStore, "commits">;
  },
  { databaseId, ...data }: LateBackup,
): Promise<void> {
  await control.webhooks.addEvent(databaseId, { type: "backup.late", at: clock.now(), data });
  tenants.commits.tell(databaseId);
}
