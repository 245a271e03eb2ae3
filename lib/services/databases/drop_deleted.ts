// Drops the storage of deleted databases that nobody can bring back any more.
import type { ManageContext } from "../manage_context.ts";
import { tryEach } from "../try_each.ts";
import { dropUnused } from "./drop_unused.ts";

/** Of one namespace, which is going away, all of them; else those whose time is over. */
export async function dropDeleted(
  { control, tenants }: Pick<ManageContext, "control" | "tenants">,
  namespaceId: string | null,
): Promise<void> {
  await tryEach(await control.databases.expireDeleted(namespaceId), async (databaseId) => {
    await control.endpoints.removeAll(databaseId);
    await dropUnused({ control, tenants }, databaseId);
  });
}
