// The name in a path of a database or branch that is known by its id: a slug may be another database's by now.
import type { ControlPlane } from "../../control/control_plane.ts";

/** `<slug>`, or `<slug>@<ref>` of a branch; null where the database or the branch is gone. Errors: `meter_unreachable`. */
export async function databasePath(
  { databases, branches }: ControlPlane,
  { namespaceId, databaseId }: { readonly namespaceId: string; readonly databaseId: string },
): Promise<string | null> {
  const database = await databases.byId(namespaceId, databaseId);
  if (database !== null) return database.slug;
  const branch = await branches.byId(namespaceId, databaseId);
  const trunk = branch && await databases.byId(namespaceId, branch.trunkId);
  return trunk && `${trunk.slug}@${branch.ref}`;
}
