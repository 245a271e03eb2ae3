// A trunk as the statement pipeline addresses it, for calls that name it without a token's scope.
import type { Role } from "../../core/role.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { DatabaseRecord } from "../../store/records.ts";

export function trunkTarget(
  { id, namespaceId, slug, branchRef }: DatabaseRecord,
  namespaceSlug: string,
  role: Role,
): QueryTarget {
  return { namespaceId, namespaceSlug, databaseId: id, databaseSlug: slug, branchRef, role };
}
