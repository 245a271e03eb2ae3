// The database that a management call addresses, once the caller may manage its namespace.
import { AppError } from "../../core/errors.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";

export interface DatabaseAddress {
  readonly namespaceSlug: string;
  readonly slug: string;
}

/** Errors: `database_not_found` and those of `requireNamespace`. */
export async function requireDatabase(ctx: ManageContext, address: DatabaseAddress): Promise<DatabaseRecord> {
  const namespace = await requireNamespace(ctx, address.namespaceSlug);
  const record = await ctx.control.databases.bySlug(namespace.id, address.slug);
  if (record === null) throw new AppError("database_not_found");
  return record;
}
