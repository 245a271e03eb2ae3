// Deletes a branch, with its storage and its claim's token.
import { requireRole } from "../../access/require_role.ts";
import { AppError } from "../../core/errors.ts";
import { type BranchContext, requireBranch } from "./branch_context.ts";
import { type BranchView, branchView } from "./branch_view.ts";
import { removeBranch } from "./remove_branch.ts";

/** Errors: `role_too_low`, `trunk_required`, `branch_not_found`. */
export async function deleteBranch(ctx: BranchContext, ref: string): Promise<BranchView> {
  requireRole(ctx.target, "admin");
  const branch = await requireBranch(ctx, ref);
  const view = await branchView(ctx.tenants, ctx.target.databaseSlug, branch);
  if (!await removeBranch(ctx, branch)) throw new AppError("branch_not_found");
  return view;
}
