// One database of a namespace.
import type { ManageContext } from "../manage_context.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";
import { type DatabaseAddress, requireDatabase } from "./require_database.ts";

/** Errors: those of `requireDatabase`. */
export async function getDatabase(ctx: ManageContext, address: DatabaseAddress): Promise<DatabaseView> {
  return await databaseView(ctx.tenants, await requireDatabase(ctx, address));
}
