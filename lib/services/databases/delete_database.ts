// Deletes a database, once the caller has written its slug again. For a while it can be brought back.
import { DELETED_KEEP_MS } from "../../core/limits.ts";
import { removeBranches } from "../branches/remove_branches.ts";
import { requireConfirm } from "../require_confirm.ts";
import type { ManageContext } from "../manage_context.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";
import { type DatabaseAddress, requireDatabase } from "./require_database.ts";

/** Errors: `validation_failed` unless `confirm` is the slug, and those of `requireDatabase`. */
export async function deleteDatabase(
  ctx: ManageContext,
  input: DatabaseAddress & { readonly confirm: string },
): Promise<DatabaseView> {
  const record = await requireDatabase(ctx, input);
  requireConfirm(input.confirm, record.slug);
  const view = await databaseView(ctx.tenants, record);
  await ctx.control.databases.softDelete(record, DELETED_KEEP_MS);
  await removeBranches(ctx, { namespaceId: record.namespaceId, trunkId: record.id });
  return view;
}
