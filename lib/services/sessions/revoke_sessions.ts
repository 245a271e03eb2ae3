// Ends every session of a database's end users.
import { AppError } from "../../core/errors.ts";
import { type DatabaseAddress, requireDatabase } from "../databases/database_record.ts";
import type { ManageContext } from "../manage_context.ts";

/** The new floor under `iat`, unix seconds. Errors: those of `requireDatabase`. */
export async function revokeSessions(
  ctx: ManageContext,
  address: DatabaseAddress,
): Promise<{ tokensMinIat: number }> {
  const { id: databaseId, namespaceId } = await requireDatabase(ctx, address);
  const tokensMinIat = await ctx.control.sessionKeys.revokeAll({ namespaceId, databaseId });
  if (tokensMinIat === null) throw new AppError("database_not_found");
  return { tokensMinIat };
}
