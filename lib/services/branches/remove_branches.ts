// Takes away all branches of a database or of a namespace that goes, and those whose time is over.
import type { ManageContext } from "../manage_context.ts";
import { tryEach } from "../try_each.ts";
import { removeBranch } from "./remove_branch.ts";

type Context = Pick<ManageContext, "control" | "tenants">;

/** Repeating it after a crash goes on where it stopped. */
export async function removeBranches(
  ctx: Context,
  of: { readonly namespaceId: string; readonly trunkId?: string },
): Promise<void> {
  await tryEach(ctx.control.branches.stored(of), (branch) => removeBranch(ctx, branch));
}

/** Those whose deadline has passed or whose trunk is gone. */
export async function removeOverBranches(ctx: Context): Promise<void> {
  await tryEach(ctx.control.branches.stored({}), async (branch) => {
    if (await ctx.control.branches.isOver(branch)) await removeBranch(ctx, branch);
  });
}
