// From a path that anybody may send to the database behind it, without a bearer.
import { readAddress, TRUNK } from "../../access/resolve_target.ts";
import { isSlug } from "../../access/slug.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { BranchRecord, DatabaseRecord } from "../../store/records.ts";

export interface PublicAddress {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`: a branch serves the endpoints of its trunk. */
  readonly databasePath: string;
}

export interface PublicPlace {
  readonly trunk: DatabaseRecord;
  /** Null: the path names the trunk. */
  readonly branch: BranchRecord | null;
}

/** Null whichever part is unknown or malformed. Errors: `meter_unreachable`. */
export async function findPublicPlace(
  control: ControlPlane,
  { namespaceSlug, databasePath }: PublicAddress,
): Promise<PublicPlace | null> {
  const address = readAddress(databasePath);
  if (address === null || !isSlug(namespaceSlug)) return null;
  const namespace = await control.namespaces.bySlug(namespaceSlug);
  if (namespace === null) return null;
  const trunk = await control.databases.bySlug(namespace.id, address.slug);
  if (trunk === null) return null;
  const ref = address.ref ?? TRUNK;
  if (ref === TRUNK) return { trunk, branch: null };
  const branch = await control.branches.byRef({ namespaceId: namespace.id, trunkId: trunk.id, ref });
  return branch === null ? null : { trunk, branch };
}
