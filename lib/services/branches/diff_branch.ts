// What a branch has changed since it was made: its schema, and the rows of every table.
import { priceCall } from "./price_call.ts";
import type { Meter } from "../../control/balance/meter.ts";
import type { BranchDiff, RowForm } from "../../sql/branch_report.ts";
import { type BranchContext, readableBranch } from "./branch_context.ts";

/** Billed as a read of the branch. Errors: `branch_not_found`, `out_of_scope`, those of the balance. */
export async function diffBranch(
  ctx: BranchContext & { readonly meter: Meter },
  { ref, ...form }: RowForm & { readonly ref: string },
): Promise<BranchDiff & { readonly branchRef: string }> {
  const branch = await readableBranch(ctx, ref);
  const { namespaceId, id: databaseId } = branch;
  return await priceCall(ctx.meter, { namespaceId, databaseId }, async (bill) => {
    const { diff, rowsRead } = await ctx.tenants.branches.diff({ databaseId, namespaceId }, form);
    bill.figures = { rowsRead, rowsWritten: 0 };
    return { branchRef: ref, ...diff };
  });
}
