// Makes a fresh copy of a trunk under a new id, and points the ref of a branch at it.
import type { PutOptions } from "../../control/branches.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { BranchRecord } from "../../store/records.ts";
import { dropUnused, removeBranchToken } from "../removal/remove_records.ts";
import { type BranchContext, requireTrunk } from "./branch_context.ts";

/** A copy to make, and the record that it gets. */
export interface BranchCopy extends PutOptions {
  readonly ref: string;
  /** Makes the record, given the one that the ref names now. May be called several times. */
  readonly record: (databaseId: string, current: BranchRecord | null) => BranchRecord;
}

const failureCode = {
  trunk_gone: "database_not_found",
  branch_gone: "branch_not_found",
  swept: "store_unavailable",
  full: "too_many_branches",
} as const;

/**
 * A branch that had the ref before can no longer be reached, and its claim's token is removed; its storage is dropped
 * now or by a sweep. A failure leaves nothing behind. Errors: `database_not_found`, `branch_not_found`,
 * `too_many_branches`, `storage_full`, those of `beside`.
 */
export async function copyTrunk(ctx: BranchContext, copy: BranchCopy): Promise<BranchRecord> {
  const { control, tenants, clock } = ctx;
  const { namespaceId, databaseId: trunkId } = requireTrunk(ctx);
  // Checked again when the record is put; here it saves a copy that nobody would get.
  if (await control.branches.isFull({ namespaceId, trunkId, ref: copy.ref })) {
    throw new AppError("too_many_branches");
  }
  const databaseId = newId("db", clock.now());
  await control.databases.announce(databaseId);
  let made: BranchRecord | null = null;
  try {
    await tenants.branches.make({ databaseId, namespaceId }, trunkId);
    const outcome = await control.branches.put(
      (current) => made = copy.record(databaseId, current),
      { namespaceId, trunkId, ref: copy.ref, databaseId },
      copy,
    );
    if (!outcome.ok) throw new AppError(failureCode[outcome.reason]);
    if (outcome.replaced) {
      await removeBranchToken(ctx, outcome.replaced);
      await dropUnused(ctx, outcome.replaced.id);
    }
  } catch (error) {
    // The record may exist although its write was not confirmed: then its storage stays.
    if (await isFree(ctx, databaseId)) await dropUnused(ctx, databaseId);
    throw error;
  }
  if (made === null) throw new TypeError("a branch was put without a record");
  return made;
}

async function isFree({ control, target }: BranchContext, databaseId: string): Promise<boolean> {
  return await control.branches.byId(target.namespaceId, databaseId) === null;
}
