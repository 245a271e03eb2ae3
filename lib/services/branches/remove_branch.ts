// Takes branches away: the record first, so that nobody finds it, then its claim's token and its storage.
import type { BranchRecord } from "../../store/records.ts";
import type { ManageContext } from "../manage_context.ts";

type Context = Pick<ManageContext, "control" | "tenants">;

/** False when somebody else has replaced or removed it. A crash in between leaves a note that a sweep finds. */
export async function removeBranch(ctx: Context, record: BranchRecord): Promise<boolean> {
  if (!await ctx.control.branches.remove(record)) return false;
  await dropBranchStorage(ctx, record);
  return true;
}

/** For a branch whose record is gone. */
export async function dropBranchStorage({ control, tenants }: Context, record: BranchRecord): Promise<void> {
  if (record.tokenId !== null) await control.tokens.remove(record.namespaceId, record.tokenId);
  await tenants.drop(record.id);
  await control.leftovers.end(record.id);
}
