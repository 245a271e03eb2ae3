// Addresses under `/p`: from a path that anybody may send to the database and the endpoint behind it, without a
// bearer, and from an endpoint to its URL.
import { readAddress, TRUNK } from "../../access/resolve_target.ts";
import { isSlug } from "../../access/slug.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { BranchRecord, DatabaseRecord, EndpointRecord } from "../../store/records.ts";
import { type DatabaseAddress, trunkTarget } from "../databases/database_record.ts";
import type { TargetPath } from "../../access/resolve_target.ts";
import type { PublishedContext, PublishedRequest, ResolvedEndpoint } from "./published_context.ts";

/** The database behind such a path. */
export interface PublicTarget {
  readonly trunk: DatabaseRecord;
  /** Null: the path names the trunk. */
  readonly branch: BranchRecord | null;
}

/** Null when a part of the path is unknown or malformed. Errors: `meter_unreachable`. */
async function resolveTargetPath(
  control: ControlPlane,
  { namespaceSlug, databasePath }: TargetPath,
): Promise<PublicTarget | null> {
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

/** The trunk whose published endpoints a stranger asks about. Errors: `database_not_found`, `meter_unreachable`. */
export async function findPublicDatabase(
  control: ControlPlane,
  address: TargetPath,
): Promise<DatabaseRecord> {
  const found = await resolveTargetPath(control, address);
  if (found === null) throw new AppError("database_not_found");
  return found.trunk;
}

type Path = Pick<PublishedRequest, "namespaceSlug" | "databasePath" | "slug">;

/**
 * Step 1: the endpoint behind a path and the database that it runs in. A branch serves the endpoints of its trunk
 * with its own rows. Errors: `endpoint_not_found`, whatever part of the path is wrong and for drafts too;
 * `meter_unreachable`.
 */
export async function resolveEndpoint(
  { control }: Pick<PublishedContext, "control">,
  { namespaceSlug, databasePath, slug }: Path,
): Promise<ResolvedEndpoint> {
  if (!isSlug(slug)) throw nothing();
  const found = await resolveTargetPath(control, { namespaceSlug, databasePath });
  if (found === null) throw nothing();
  const { trunk, branch } = found;
  const record = await control.endpoints.bySlug(trunk.id, slug);
  if (record === null || record.status === "draft") throw nothing();
  const target = trunkTarget(trunk, namespaceSlug, endpointRole(record));
  if (branch === null) return { record, target };
  const { id, ref } = branch;
  return { record, target: { ...target, databaseId: id, databaseSlug: databasePath, branchRef: ref } };
}

/** What the statement of an endpoint may do. */
export function endpointRole({ spec: { kind } }: Pick<EndpointRecord, "spec">): QueryTarget["role"] {
  return writing.has(kind) ? "write" : "read";
}

const writing: ReadonlySet<EndpointRecord["spec"]["kind"]> = new Set(
  ["mutation", "auth_signup", "auth_password", "auth_reset", "auth_verify"],
);

function nothing(): AppError {
  return new AppError("endpoint_not_found");
}

/** Where an endpoint is served, as an absolute URL. Slugs need no escaping. */
export function endpointUrl(
  baseUrl: string,
  { namespaceSlug, slug }: DatabaseAddress,
  endpoint: string,
): string {
  return `${baseUrl}/p/${namespaceSlug}/${slug}/${endpoint}`;
}
