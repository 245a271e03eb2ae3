// Storage that was announced and that no record names.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

/** Never throws, so that a caller's own failure is the one that is told: what cannot go now goes with a sweep. */
export async function dropUnused(
  { control, tenants }: { readonly control: ControlPlane; readonly tenants: TenantStore },
  databaseId: string,
): Promise<void> {
  try {
    await tenants.drop(databaseId);
    await control.leftovers.end(databaseId);
  } catch {
    // It is still announced.
  }
}
