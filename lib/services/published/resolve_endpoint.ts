// Step 1: from the path to the endpoint and its database, without a bearer. A branch serves the endpoints of its trunk
// with its own rows.
import { isSlug } from "../../access/slug.ts";
import { AppError } from "../../core/errors.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { EndpointRecord } from "../../store/records.ts";
import { trunkTarget } from "../endpoints/trunk_target.ts";
import { findPublicPlace } from "./find_public_place.ts";
import type { PublishedContext, PublishedRequest, ResolvedEndpoint } from "./published_context.ts";

type Path = Pick<PublishedRequest, "namespaceSlug" | "databasePath" | "slug">;

/** Errors: `endpoint_not_found`, whatever part of the path is wrong and for drafts too; `meter_unreachable`. */
export async function resolveEndpoint(
  { control }: Pick<PublishedContext, "control">,
  { namespaceSlug, databasePath, slug }: Path,
): Promise<ResolvedEndpoint> {
  if (!isSlug(slug)) throw nothing();
  const place = await findPublicPlace(control, { namespaceSlug, databasePath });
  if (place === null) throw nothing();
  const { trunk, branch } = place;
  const record = await control.endpoints.bySlug(trunk.id, slug);
  if (record === null || record.status === "draft") throw nothing();
  const target = trunkTarget(trunk, namespaceSlug, endpointRole(record));
  if (branch === null) return { record, target };
  const { id, ref } = branch;
  return { record, target: { ...target, databaseId: id, databaseSlug: databasePath, branchRef: ref } };
}

/** What the statement of an endpoint may do. */
export function endpointRole({ spec: { kind } }: Pick<EndpointRecord, "spec">): QueryTarget["role"] {
  return kind === "mutation" || kind === "auth_signup" ? "write" : "read";
}

function nothing(): AppError {
  return new AppError("endpoint_not_found");
}
