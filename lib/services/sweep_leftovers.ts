// Finishes what a crash left half made or half deleted, and deletions whose time for coming back is over.
import { isId } from "../core/ids.ts";
import { removeOverBranches } from "./branches/remove_branches.ts";
import { dropDeleted } from "./databases/drop_deleted.ts";
import type { ManageContext } from "./manage_context.ts";
import { clearNamespace } from "./namespaces/clear_namespace.ts";

/** The number of leftovers that are gone now. Errors: `meter_unreachable`. */
export async function sweepLeftovers(
  ctx: Pick<ManageContext, "control" | "ledger" | "tenants">,
): Promise<number> {
  await dropDeleted(ctx, null);
  await removeOverBranches(ctx);
  const abandoned = await ctx.control.leftovers.takeAbandoned();
  for (const { id, kind } of abandoned) {
    if (kind === "namespace") {
      await clearNamespace(ctx, id);
    } else {
      await ctx.control.endpoints.removeAll(id);
      if (isId("db", id)) await ctx.tenants.drop(id);
      await ctx.control.leftovers.end(id);
    }
  }
  return abandoned.length;
}
