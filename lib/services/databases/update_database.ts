// Changes what people call a database.
import { AppError } from "../../core/errors.ts";
import type { ManageContext } from "../manage_context.ts";
import { type DatabaseView, databaseView } from "./database_view.ts";
import { type DatabaseAddress, requireDatabase } from "./require_database.ts";

/** Errors: those of `requireDatabase`. */
export async function updateDatabase(
  ctx: ManageContext,
  input: DatabaseAddress & { readonly name: string },
): Promise<DatabaseView> {
  const record = await requireDatabase(ctx, input);
  const changed = await ctx.control.databases.rename(record, input.name);
  if (changed === null) throw new AppError("database_not_found");
  return await databaseView(ctx.tenants, changed);
}
