// The branches of a database, by ref.
import { type BranchContext, requireTrunk } from "./branch_context.ts";
import { type BranchView, branchView } from "./branch_view.ts";

/** Errors: `trunk_required`. */
export async function listBranches(ctx: BranchContext): Promise<BranchView[]> {
  const { namespaceId, databaseId, databaseSlug } = requireTrunk(ctx);
  const branches = await ctx.control.branches.list(namespaceId, databaseId);
  return await Promise.all(branches.map((one) => branchView(ctx.tenants, databaseSlug, one)));
}
