// Finds the database that a management call addresses, once the caller may manage its namespace.
import { AppError } from "../../core/errors.ts";
import type { Role } from "../../core/role.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";

/** A database as the management API names it. */
export interface DatabaseAddress {
  readonly namespaceSlug: string;
  readonly slug: string;
}

/** The record of a live database. Errors: `database_not_found` and those of `requireNamespace`. */
export async function requireDatabase(ctx: ManageContext, address: DatabaseAddress): Promise<DatabaseRecord> {
  const namespace = await requireNamespace(ctx, address.namespaceSlug);
  const record = await ctx.control.databases.bySlug(namespace.id, address.slug);
  if (record === null) throw new AppError("database_not_found");
  return record;
}

/** A trunk as the statement pipeline addresses it, for calls that name it without a token's scope. */
export function trunkTarget(
  { id, namespaceId, slug, branchRef }: DatabaseRecord,
  namespaceSlug: string,
  role: Role,
): QueryTarget {
  return { namespaceId, namespaceSlug, databaseId: id, databaseSlug: slug, branchRef, role };
}
