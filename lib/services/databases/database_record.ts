// The record of a database: found for a management call, addressed by the statement pipeline, shown by the API.
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Role } from "../../core/role.ts";
import type { QueryTarget } from "../../query/query_call.ts";
import type { DatabaseRecord, NamespaceRecord } from "../../store/records.ts";
import type { DatabaseState, DatabaseStorage } from "../../tenant/damage.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import type { ManageContext } from "../manage_context.ts";
import { readableNamespace, requireNamespace } from "../namespaces/namespace_record.ts";

/** A database as the management API names it. */
export interface DatabaseAddress {
  readonly namespaceSlug: string;
  readonly slug: string;
}

/**
 * The record, once the caller may manage the namespace. Errors: `database_not_found`, those of `requireNamespace`.
 */
export async function requireDatabase(ctx: ManageContext, address: DatabaseAddress): Promise<DatabaseRecord> {
  return await knownDatabase(ctx, await requireNamespace(ctx, address.namespaceSlug), address.slug);
}

/** The record, once the caller may look at the namespace. Errors: as `requireDatabase`. */
export async function readableDatabase(
  ctx: ManageContext,
  address: DatabaseAddress,
): Promise<DatabaseRecord> {
  return await knownDatabase(ctx, await readableNamespace(ctx, address.namespaceSlug), address.slug);
}

async function knownDatabase(
  { control }: ManageContext,
  namespace: NamespaceRecord,
  slug: string,
): Promise<DatabaseRecord> {
  const record = await control.databases.bySlug(namespace.id, slug);
  if (record === null) throw new AppError("database_not_found");
  return record;
}

/** A trunk as the statement pipeline addresses it, for calls that come without a token's scope. */
export function trunkTarget(
  { id, namespaceId, slug, branchRef }: DatabaseRecord,
  namespaceSlug: string,
  role: Role,
): QueryTarget {
  return { namespaceId, namespaceSlug, databaseId: id, databaseSlug: slug, branchRef, role };
}

/** A database as the API shows it. */
export interface DatabaseView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly branchRef: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

/** Reads the storage of a database for its view, unless it is known. */
export async function databaseView(
  tenants: TenantStore,
  record: DatabaseRecord,
  storage: DatabaseStorage | null = null,
): Promise<DatabaseView> {
  const { id, slug, name, branchRef } = record;
  return {
    id,
    slug,
    name,
    branchRef,
    createdAt: isoTime(record.createdAt),
    ...storage ?? await tenants.storageOf(id),
  };
}
