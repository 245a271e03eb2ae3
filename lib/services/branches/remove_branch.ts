// Takes branches away: the record first, so that nobody finds it, then its claim's token and its storage.
import type { BranchRecord } from "../../store/records.ts";
import { dropUnused } from "../databases/drop_unused.ts";
import type { ManageContext } from "../manage_context.ts";

type Context = Pick<ManageContext, "control" | "tenants">;

/** False when somebody else has replaced or removed it. What cannot go now has left a note that a sweep finds. */
export async function removeBranch(ctx: Context, record: BranchRecord): Promise<boolean> {
  if (!await ctx.control.branches.remove(record)) return false;
  await removeBranchToken(ctx, record);
  await dropUnused(ctx, record.id);
  return true;
}

/** For a branch whose record is gone: the token of its claim. */
export async function removeBranchToken(
  { control }: Pick<Context, "control">,
  { namespaceId, tokenId }: BranchRecord,
): Promise<void> {
  if (tokenId !== null) await control.tokens.remove(namespaceId, tokenId);
}
