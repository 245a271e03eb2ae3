// Brings back a database that was deleted less than a week ago, as it was.
import { AppError } from "../../core/errors.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";

export interface UndeleteInput {
  readonly namespaceSlug: string;
  /** As it was called; of several the one that was deleted last. */
  readonly slug: string;
  /** Another slug for it, where the old one is in use again. */
  readonly into?: string | undefined;
}

/** Errors: `database_not_found`, `slug_taken`, those of `requireNamespace`. */
export async function undeleteDatabase(ctx: ManageContext, input: UndeleteInput): Promise<DatabaseView> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const deleted = await ctx.control.databases.findDeleted(namespace.id, input.slug);
  if (deleted === null) throw new AppError("database_not_found");
  const slug = input.into ?? input.slug;
  // Before it is back: nothing that can fail comes behind that.
  const view = await databaseView(ctx.tenants, { ...deleted.database, slug });
  const outcome = await ctx.control.databases.undelete(deleted, slug);
  if (!outcome.ok) throw new AppError(outcome.reason === "slug_taken" ? "slug_taken" : "database_not_found");
  return view;
}
