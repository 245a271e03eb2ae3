// Empties a namespace that is out of reach already: its tokens, its databases, its account, then the note about it.
import type { ManageContext } from "../manage_context.ts";
import { dropDeleted } from "../databases/drop_deleted.ts";
import { removeBranches } from "../branches/remove_branches.ts";
import { removeDatabase } from "../databases/remove_database.ts";

const DATABASES_AT_ONCE = 50;

/** Repeating it after a crash goes on where it stopped. */
export async function clearNamespace(
  ctx: Pick<ManageContext, "control" | "ledger" | "tenants">,
  namespaceId: string,
): Promise<void> {
  await ctx.control.tokens.removeAll(namespaceId);
  for (;;) {
    const page = await ctx.control.databases.list(namespaceId, {
      cursor: null,
      pageSize: DATABASES_AT_ONCE,
    });
    for (const database of page.records) await removeDatabase(ctx, database);
    if (page.nextCursor === null) break;
  }
  await removeBranches(ctx, { namespaceId });
  await dropDeleted(ctx, namespaceId);
  await ctx.ledger.remove(namespaceId);
  await ctx.control.leftovers.end(namespaceId);
}
