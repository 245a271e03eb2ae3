// The namespace that a management call addresses, once the caller may manage it.
import { requireNamespaceAdmin } from "../../access/require_namespace_admin.ts";
import { AppError } from "../../core/errors.ts";
import type { NamespaceRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";

/** Errors: `namespace_mismatch`, `out_of_scope`, `role_too_low`, `namespace_not_found`. */
export async function requireNamespace(ctx: ManageContext, slug: string): Promise<NamespaceRecord> {
  requireNamespaceAdmin(ctx.caller, slug);
  const record = await ctx.control.namespaces.bySlug(slug);
  if (record === null) throw new AppError("namespace_not_found");
  return record;
}
