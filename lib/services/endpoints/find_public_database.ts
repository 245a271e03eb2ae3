// The database whose published endpoints a stranger asks about.
import { isBranchRef } from "../../access/branch_ref.ts";
import { isSlug } from "../../access/slug.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import type { DatabaseRecord } from "../../store/records.ts";

const TRUNK = "main";

export interface PublicAddress {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`: a branch serves the endpoints of its trunk. */
  readonly databasePath: string;
}

/** The trunk. Errors: `database_not_found`, whichever part is unknown; `meter_unreachable`. */
export async function findPublicDatabase(
  control: ControlPlane,
  { namespaceSlug, databasePath }: PublicAddress,
): Promise<DatabaseRecord> {
  const [slug = "", ref = TRUNK, ...rest] = databasePath.split("@");
  if (!isSlug(namespaceSlug) || !isSlug(slug) || !isBranchRef(ref) || rest.length > 0) throw unknown();
  const namespace = await control.namespaces.bySlug(namespaceSlug);
  const trunk = namespace && await control.databases.bySlug(namespace.id, slug);
  if (trunk === null) throw unknown();
  if (ref === TRUNK) return trunk;
  const branch = await control.branches.byRef({ namespaceId: trunk.namespaceId, trunkId: trunk.id, ref });
  if (branch === null) throw unknown();
  return trunk;
}

function unknown(): AppError {
  return new AppError("database_not_found");
}
