// Finishes what a crash left half made or half deleted, and drops deleted databases whose time is over.
import type { Abandoned } from "../../control/leftovers.ts";
import { isId } from "../../core/ids.ts";
import { tryEach } from "../../core/try_each.ts";
import type { ManageContext } from "../manage_context.ts";
import { clearNamespace, dropDeleted, removeOverBranches } from "./remove_records.ts";

type Context = Pick<ManageContext, "control" | "ledger" | "tenants">;

/**
 * One failure keeps nothing else from being dropped; what failed is tried again ten minutes later. Errors: the first
 * failure, after everything was tried.
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
