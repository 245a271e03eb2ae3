// A new, empty database.
import type { ServiceStatement } from "../../tenant/service_statement.ts";
import type { ManageContext } from "../manage_context.ts";
import { requireNamespace } from "../namespaces/require_namespace.ts";
import { addDatabase } from "./add_database.ts";
import type { DatabaseView } from "./database_view.ts";

export interface DatabaseInput {
  readonly namespaceSlug: string;
  readonly slug: string;
  readonly name?: string | undefined;
  /** Runs in the new database before anybody can find it. */
  readonly content?: readonly ServiceStatement[];
}

/** Errors: `slug_taken`, `store_unavailable` and those of `requireNamespace`. */
export async function createDatabase(ctx: ManageContext, input: DatabaseInput): Promise<DatabaseView> {
  const namespace = await requireNamespace(ctx, input.namespaceSlug);
  return await addDatabase(ctx, {
    ...{ namespaceId: namespace.id, slug: input.slug, name: input.name ?? input.slug },
    make: async (databaseId) => {
      await ctx.tenants.create(databaseId);
      if (input.content) await ctx.tenants.open(databaseId, namespace.id).write(input.content);
    },
  });
}
