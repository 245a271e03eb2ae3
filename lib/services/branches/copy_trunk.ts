// A fresh copy of a trunk under a new id, and the record by which a branch's ref names it from then on.
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { BranchRecord } from "../../store/records.ts";
import { dropUnused } from "../databases/drop_unused.ts";
import { type BranchContext, requireTrunk } from "./branch_context.ts";
import { removeBranchToken } from "./remove_branch.ts";

export interface BranchCopy {
  readonly ref: string;
  /** Only in the place of a living branch. */
  readonly onlyOver: boolean;
  /** The record, given what the ref names until now. May be called several times. */
  readonly record: (databaseId: string, current: BranchRecord | null) => BranchRecord;
  /** Runs once the copy is there and before anybody can find it. */
  readonly beforePut?: (databaseId: string) => Promise<void>;
}

const failureCode = {
  trunk_gone: "database_not_found",
  branch_gone: "branch_not_found",
  swept: "store_unavailable",
  full: "too_many_branches",
} as const;

/**
 * What was under the ref before is out of reach afterwards, with its claim's token; its storage is dropped now or by a
 * sweep. Errors: `database_not_found`, `branch_not_found`, `too_many_branches`, `storage_full`; a failure leaves nothing
 * behind.
 */
export async function copyTrunk(ctx: BranchContext, copy: BranchCopy): Promise<BranchRecord> {
  const { control, tenants, clock } = ctx;
  const { namespaceId, databaseId: trunkId } = requireTrunk(ctx);
  // Looked at again when the copy is made; here it saves the copy.
  if (await control.branches.isFull({ namespaceId, trunkId, ref: copy.ref })) {
    throw new AppError("too_many_branches");
  }
  const databaseId = newId("db", clock.now());
  await control.databases.announce(databaseId);
  let made: BranchRecord | null = null;
  try {
    await tenants.branches.make({ databaseId, namespaceId }, trunkId);
    await copy.beforePut?.(databaseId);
    const outcome = await control.branches.put(
      (current) => made = copy.record(databaseId, current),
      { namespaceId, trunkId, ref: copy.ref, databaseId },
      { onlyOver: copy.onlyOver },
    );
    if (!outcome.ok) throw new AppError(failureCode[outcome.reason]);
    if (outcome.replaced) {
      await removeBranchToken(ctx, outcome.replaced);
      await dropUnused(ctx, outcome.replaced.id);
    }
  } catch (error) {
    // Where the record was not confirmed, it may be there: then it stays, with its storage.
    if (await isFree(ctx, databaseId)) await dropUnused(ctx, databaseId);
    throw error;
  }
  if (made === null) throw new TypeError("a branch was put without a record");
  return made;
}

async function isFree({ control, target }: BranchContext, databaseId: string): Promise<boolean> {
  return await control.branches.byId(target.namespaceId, databaseId) === null;
}
