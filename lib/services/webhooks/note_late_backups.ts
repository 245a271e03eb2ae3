// Finds databases whose archive has become late, and says so to the webhooks that want to know.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Clock } from "../../core/clock.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

interface NoteContext {
  readonly control: Pick<ControlPlane, "webhooks">;
  readonly clock: Clock;
  readonly tenants: Pick<TenantStore, "commits">;
}

/** How late the archive of a database is. */
interface LateBackup {
  readonly databaseId: string;
  /** Unix milliseconds of the last state that is in the archive; null: there is none. */
  readonly archivedAt: number | null;
  /** Null as well then. */
  readonly lagSec: number | null;
}

/** To be called now and then by the process that archives. Errors: `meter_unreachable`. */
export async function noteLateBackups(
  ctx: NoteContext & { readonly tenants: Pick<TenantStore, "archive"> },
): Promise<void> {
  const { archive } = ctx.tenants;
  for (const databaseId of archive?.late() ?? []) {
    const status = await archive?.status(databaseId);
    const archivedAt = status?.archivedUntilMs ?? null;
    const lagMs = status?.lagMs ?? null;
    const lagSec = lagMs === null ? null : Math.round(lagMs / 1000);
    await noteBackupLate(ctx, { databaseId, archivedAt, lagSec });
    // Only now: where KV did not answer, it is told the next time.
    archive?.toldLate(databaseId);
  }
}

/** To be called once when it becomes late. Errors: `meter_unreachable`. */
export async function noteBackupLate(
  { control, clock, tenants }: NoteContext,
  { databaseId, ...data }: LateBackup,
): Promise<void> {
  await control.webhooks.addEvent(databaseId, { type: "backup.late", at: clock.now(), data });
  tenants.commits.tell(databaseId);
}
