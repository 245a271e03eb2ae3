// Finds databases whose archive has become late, and says so to their webhooks.
import type { Clock } from "../../core/clock.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import { noteBackupLate } from "./note_backup_late.ts";

/** To be called now and then by the process that archives. Errors: `meter_unreachable`. */
export async function noteLateBackups(
  deps: {
    readonly control: Pick<ControlPlane, "webhooks">;
    readonly clock: Clock;
    readonly tenants: Pick<TenantStore, "commits" | "archive">;
  },
): Promise<void> {
  const { archive } = deps.tenants;
  for (const databaseId of archive?.late() ?? []) {
    const status = await archive?.status(databaseId);
    const archivedAt = status?.archivedUntilMs ?? null;
    const lagMs = status?.lagMs ?? null;
    const lagSec = lagMs === null ? null : Math.round(lagMs / 1000);
    await noteBackupLate(deps, { databaseId, archivedAt, lagSec });
    // Only now: where KV did not answer, it is told the next time.
    archive?.toldLate(databaseId);
  }
}
