// What the services for branches need of a request, and how they find a trunk and its branches.
import { isBranchRef } from "../../access/slug.ts";
import type { Caller } from "../../access/caller.ts";
import { roleAt, type Target, TRUNK } from "../../access/resolve_target.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { StoreStep } from "../../control/replays.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { BranchRecord } from "../../store/records.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

/** The process's parts, the database addressed and whoever asks: an API token, or a person. */
export interface BranchContext {
  readonly control: ControlPlane;
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly target: Target;
  readonly caller: Caller;
}

/** Of a call that makes a branch a fresh copy, which must not run twice. */
export interface CopyContext extends BranchContext {
  /** Where the call is a step of a plan: its answer is stored in the commit that makes the copy the branch. */
  readonly storeStep?: StoreStep | undefined;
}

/** The addressed trunk. Errors: `trunk_required` where the path addresses a branch. */
export function requireTrunk({ target }: BranchContext): Target {
  if (target.branchRef !== TRUNK) throw new AppError("trunk_required");
  return target;
}

/** A branch of the addressed trunk. Errors: `trunk_required`, `branch_not_found`. */
export async function requireBranch(ctx: BranchContext, ref: string): Promise<BranchRecord> {
  const { namespaceId, databaseId: trunkId } = requireTrunk(ctx);
  const branch = isBranchRef(ref) ? await ctx.control.branches.current({ namespaceId, trunkId, ref }) : null;
  if (branch === null) throw new AppError("branch_not_found");
  return branch;
}

/**
 * A branch whose rows the caller may read. An admin of the trunk may, who could claim a branch with the same rows; so
 * may every member, and a token that reaches the branch, also when the path addresses the branch. Errors:
 * `branch_not_found`, `out_of_scope`.
 */
export async function readableBranch(ctx: BranchContext, ref: string): Promise<BranchRecord> {
  const { target, caller } = ctx;
  if (target.branchRef !== TRUNK) {
    const own = ref === target.branchRef
      ? await ctx.control.branches.byId(target.namespaceId, target.databaseId)
      : null;
    if (own === null) throw new AppError("branch_not_found");
    return own;
  }
  const branch = await requireBranch(ctx, ref);
  const isAdmin = target.role === "admin" || caller.kind === "operator";
  if (!isAdmin && roleAt(caller, { id: branch.id, branchRef: ref }) === null) {
    throw new AppError("out_of_scope");
  }
  return branch;
}
