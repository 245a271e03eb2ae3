// Makes a branch a fresh copy of its trunk. The tokens of its claims end with the old copy; its deadline stays.
import { requireRole } from "../../access/require_role.ts";
import { AppError } from "../../core/errors.ts";
import { type BranchContext, requireBranch } from "./branch_context.ts";
import { type BranchView, branchView } from "./branch_view.ts";
import { copyTrunk } from "./copy_trunk.ts";

/** Errors: `role_too_low`, `trunk_required`, `branch_not_found`, `storage_full`. */
export async function resetBranch(ctx: BranchContext, ref: string): Promise<BranchView> {
  requireRole(ctx.target, "admin");
  await requireBranch(ctx, ref);
  const copiedAt = ctx.clock.now();
  const record = await copyTrunk(ctx, {
    ...{ ref, onlyOver: true },
    record: (id, current) => {
      if (current === null) throw new AppError("branch_not_found");
      return { ...current, id, copiedAt, tokenId: null };
    },
  });
  return await branchView(ctx.tenants, ctx.target.databaseSlug, record);
}
