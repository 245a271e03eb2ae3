// Drops the storage of deleted databases that nobody can bring back any more.
import type { ManageContext } from "../manage_context.ts";

/** Of one namespace, which is going away, all of them; else those whose time is over. */
export async function dropDeleted(
  { control, tenants }: Pick<ManageContext, "control" | "tenants">,
  namespaceId: string | null,
): Promise<void> {
  for (const databaseId of await control.databases.expireDeleted(namespaceId)) {
    await control.endpoints.removeAll(databaseId);
    await tenants.drop(databaseId);
    await control.leftovers.end(databaseId);
  }
}
