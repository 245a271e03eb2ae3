// Lists, compares, resets and deletes the branches of a database.
import { requireFresh, requireRole } from "../../access/caller.ts";
import type { Meter } from "../../control/balance/meter.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { Role } from "../../core/role.ts";
import { Bill } from "../../query/bill.ts";
import type { BranchDiff } from "../../sql/service/branch_report.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { BranchRecord } from "../../store/records.ts";
import type { DatabaseState } from "../../tenant/damage.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import { inLentRoom } from "../removal/in_lent_room.ts";
import { removeBranch } from "../removal/remove_records.ts";
import {
  type BranchContext,
  type CopyContext,
  readableBranch,
  requireBranch,
  requireTrunk,
} from "./branch_context.ts";
import { copyTrunk } from "./copy_trunk.ts";

/** A branch as the API shows it. */
export interface BranchView {
  readonly branchRef: string;
  readonly databaseId: string;
  readonly databaseSlug: string;
  readonly purpose: string;
  readonly role: Role;
  readonly createdAt: string;
  /** When the trunk was copied last. */
  readonly copiedAt: string;
  readonly expiresAt: string;
  readonly sizeBytes: number;
  readonly state: DatabaseState;
}

async function branchView(
  tenants: TenantStore,
  trunkSlug: string,
  record: BranchRecord,
): Promise<BranchView> {
  const { id, ref, purpose, role } = record;
  return {
    branchRef: ref,
    databaseId: id,
    databaseSlug: `${trunkSlug}@${ref}`,
    purpose,
    role,
    createdAt: isoTime(record.createdAt),
    copiedAt: isoTime(record.copiedAt),
    expiresAt: isoTime(record.expiresAt),
    ...await tenants.storageOf(id),
  };
}

/** The branches of a database, by ref. Errors: `trunk_required`. */
export async function listBranches(ctx: BranchContext): Promise<BranchView[]> {
  const { namespaceId, databaseId, databaseSlug } = requireTrunk(ctx);
  const branches = await ctx.control.branches.list(namespaceId, databaseId);
  return await Promise.all(branches.map((one) => branchView(ctx.tenants, databaseSlug, one)));
}

/**
 * What a branch has changed since it was made: its schema, and the rows of every table. Billed as a read of the
 * branch. Errors: `branch_not_found`, `out_of_scope`, `merge_refused` without its ancestor, those of the balance.
 */
export async function diffBranch(
  ctx: BranchContext & { readonly meter: Meter },
  { ref, rowForm }: { readonly ref: string; readonly rowForm: RowForm },
): Promise<BranchDiff & { readonly branchRef: string }> {
  const branch = await readableBranch(ctx, ref);
  const { namespaceId, id: databaseId } = branch;
  const bill = new Bill(ctx.meter, { namespaceId, databaseId });
  return await bill.during("reads", async () => {
    const { diff, rowsRead } = await ctx.tenants.branches.diff({ databaseId, namespaceId }, rowForm);
    bill.figures = { rowsRead, rowsWritten: 0 };
    return { branchRef: ref, ...diff };
  });
}

/**
 * Makes a branch a fresh copy of its trunk. The tokens of its claims end with the old copy; its deadline stays.
 * Errors: `role_too_low`, `sign_in_again`, `trunk_required`, `branch_not_found`, `storage_full`, `replay_running`.
 */
export async function resetBranch(ctx: CopyContext, ref: string): Promise<BranchView> {
  requireRole(ctx.target, "admin");
  requireFresh(ctx.caller, ctx.clock.now());
  await requireBranch(ctx, ref);
  const copiedAt = ctx.clock.now();
  let view: BranchView | null = null;
  await copyTrunk(ctx, {
    ref,
    onlyOver: true,
    beside: async (commit, record) => {
      view = await branchView(ctx.tenants, ctx.target.databaseSlug, record);
      await ctx.storeStep?.(commit, { status: 200, data: view });
    },
    record: (id, current) => {
      if (current === null) throw new AppError("branch_not_found");
      return { ...current, id, copiedAt, tokenId: null };
    },
  });
  if (view === null) throw new TypeError("a branch was put without a view of it");
  return view;
}

/**
 * Deletes a branch, with its storage and its claim's token. Errors: `role_too_low`, `sign_in_again`,
 * `trunk_required`, `branch_not_found`.
 */
export async function deleteBranch(ctx: BranchContext, ref: string): Promise<BranchView> {
  requireRole(ctx.target, "admin");
  requireFresh(ctx.caller, ctx.clock.now());
  const branch = await requireBranch(ctx, ref);
  const view = await branchView(ctx.tenants, ctx.target.databaseSlug, branch);
  const remove = (one: BranchRecord) => inLentRoom(ctx.tenants, () => removeBranch(ctx, one));
  if (await remove(branch)) return view;
  // Another instance may have reset it since this one read its record.
  if (await remove(await requireBranch(ctx, ref))) return view;
  throw new AppError("branch_not_found");
}
