// Finishes what a crash left half made or half deleted, and deletions whose time for coming back is over.
import type { Abandoned } from "../control/leftovers.ts";
import { isId } from "../core/ids.ts";
import { removeOverBranches } from "./branches/remove_branches.ts";
import { dropDeleted } from "./databases/drop_deleted.ts";
import type { ManageContext } from "./manage_context.ts";
import { clearNamespace } from "./namespaces/clear_namespace.ts";
import { tryEach } from "./try_each.ts";

type Context = Pick<ManageContext, "control" | "ledger" | "tenants">;

/**
 * What cannot be taken away keeps nothing else from going; it is tried again ten minutes later. Errors: the first that
 * anything of it has met, when all was tried.
 */
export async function sweepLeftovers(ctx: Context): Promise<void> {
  const parts = [
    () => dropDeleted(ctx, null),
    () => removeOverBranches(ctx),
    async () => await tryEach(await ctx.control.leftovers.takeAbandoned(), (one) => takeAway(ctx, one)),
  ];
  await tryEach(parts, (part) => part());
}

async function takeAway(ctx: Context, { id, kind }: Abandoned): Promise<void> {
  if (kind === "namespace") return await clearNamespace(ctx, id);
  await ctx.control.endpoints.removeAll(id);
  if (isId("db", id)) await ctx.tenants.drop(id);
  await ctx.control.leftovers.end(id);
}
