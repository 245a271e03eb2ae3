// The databases of a namespace.
import type { PageInput } from "../../control/list_page.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";

/** Errors: those of `requireNamespace`. */
export async function listDatabases(
  ctx: ManageContext,
  input: PageInput & { readonly namespaceSlug: string },
): Promise<{ items: DatabaseView[]; nextCursor: string | null }> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  const { records, nextCursor } = await ctx.control.databases.list(namespace.id, input);
  const items = await Promise.all(records.map((record) => databaseView(ctx.tenants, record)));
  return { items, nextCursor };
}
