// Step 1: from the path to the endpoint and its database, without a bearer. A branch serves the endpoints of its trunk
// with its own rows. At once while the records are kept.
import { isBranchRef } from "../../access/branch_ref.ts";
import { TRUNK } from "../../access/resolve_target.ts";
import { isSlug } from "../../access/slug.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { EndpointRecord } from "../../store/records.ts";
import type { PublishedContext, PublishedRequest, ResolvedEndpoint } from "./published_context.ts";

type Path = Pick<PublishedRequest, "namespaceSlug" | "databasePath" | "slug">;

/** Errors: `endpoint_not_found`, whatever part of the path is wrong and for drafts too; `meter_unreachable`. */
export async function resolveEndpoint(
  { control }: Pick<PublishedContext, "control">,
  { namespaceSlug, databasePath, slug }: Path,
): Promise<ResolvedEndpoint> {
  const at = databasePath.indexOf("@");
  const databaseSlug = at < 0 ? databasePath : databasePath.slice(0, at);
  const ref = at < 0 ? TRUNK : databasePath.slice(at + 1);
  if (!isSlug(namespaceSlug) || !isSlug(databaseSlug) || !isSlug(slug) || !isBranchRef(ref)) throw nothing();
  const namespace = await control.namespaces.bySlug(namespaceSlug);
  if (namespace === null) throw nothing();
  const trunk = await control.databases.bySlug(namespace.id, databaseSlug);
  if (trunk === null) throw nothing();
  const record = await control.endpoints.bySlug(trunk.id, slug);
  if (record === null || record.status === "draft") throw nothing();
  const place = {
    namespaceId: namespace.id,
    namespaceSlug,
    databaseSlug: databasePath,
    branchRef: ref,
    role: endpointRole(record),
  };
  if (ref === TRUNK) return { record, target: { ...place, databaseId: trunk.id, databaseSlug } };
  const branch = await control.branches.byRef({ namespaceId: namespace.id, trunkId: trunk.id, ref });
  if (branch === null) throw nothing();
  return { record, target: { ...place, databaseId: branch.id } };
}

/** What the statement of an endpoint may do. */
export function endpointRole({ spec: { kind } }: Pick<EndpointRecord, "spec">): QueryTarget["role"] {
  return kind === "mutation" || kind === "auth_signup" ? "write" : "read";
}

function nothing(): AppError {
  return new AppError("endpoint_not_found");
}
