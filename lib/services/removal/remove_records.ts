// Removes databases, branches and namespaces: the record first, so that nobody finds them, then the storage. What
// cannot be dropped now has left a note in the control plane, and a sweep drops it later.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Abandoned } from "../../control/leftovers.ts";
import { isId } from "../../core/ids.ts";
import { tryEach } from "../../core/try_each.ts";
import type { BranchRecord, DatabaseRecord } from "../../store/records.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";
import type { ManageContext } from "../manage_context.ts";
import { inLentRoom } from "./in_lent_room.ts";

/** Databases and branches that are removed at a time: most of it is waiting for the disk, which takes several in one go. */
const REMOVED_AT_ONCE = 10;

type Context = Pick<ManageContext, "control" | "tenants">;
type ContextWithMoney = Pick<ManageContext, "control" | "ledger" | "tenants">;

/** Drops storage that no record names. Never throws, so that the caller's own failure is the one that is reported. */
export async function dropUnused(
  { control, tenants }: { readonly control: ControlPlane; readonly tenants: TenantStore },
  databaseId: string,
): Promise<void> {
  try {
    await tenants.drop(databaseId);
    await control.leftovers.end(databaseId);
  } catch {
    // Its note stays, so a sweep tries again.
  }
}

/** Removes what belongs to a database whose record is gone for good. It can be repeated. */
async function forgetRecords(
  { branches, endpoints, rules, webhooks }: ControlPlane,
  databaseId: string,
): Promise<void> {
  await endpoints.removeAll(databaseId);
  await rules.removeAll(databaseId);
  await webhooks.removeAll(databaseId);
  await branches.forgetCount(databaseId);
}

async function removeDatabase(ctx: Context, record: DatabaseRecord): Promise<void> {
  await ctx.control.databases.remove(record);
  await forgetRecords(ctx.control, record.id);
  await dropUnused(ctx, record.id);
}

/**
 * Drops the storage of deleted databases that nobody can bring back any more: all those of a namespace that is being
 * deleted, or, given null, those whose time is over.
 */
async function dropDeleted({ control, tenants }: Context, namespaceId: string | null): Promise<void> {
  await tryEach(await control.databases.expireDeleted(namespaceId), async (databaseId) => {
    await forgetRecords(control, databaseId);
    await dropUnused({ control, tenants }, databaseId);
  }, REMOVED_AT_ONCE);
}

/** Removes a branch with its claim's token. False when somebody else has replaced or removed it. */
export async function removeBranch(ctx: Context, record: BranchRecord): Promise<boolean> {
  if (!await ctx.control.branches.remove(record)) return false;
  await removeBranchToken(ctx, record);
  await dropUnused(ctx, record.id);
  return true;
}

/** Removes the token of a branch's claim, once the branch's record is gone. */
export async function removeBranchToken(
  { control }: Pick<Context, "control">,
  { namespaceId, tokenId }: BranchRecord,
): Promise<void> {
  if (tokenId !== null) await control.tokens.remove(namespaceId, tokenId);
}

/** Removes all branches of a namespace or of one trunk. After a crash it can be repeated. */
export async function removeBranches(
  ctx: Context,
  of: { readonly namespaceId: string; readonly trunkId?: string },
): Promise<void> {
  await tryEach(ctx.control.branches.stored(of), (branch) => removeBranch(ctx, branch), REMOVED_AT_ONCE);
}

/** Removes the branches whose deadline has passed or whose trunk is gone. */
async function removeOverBranches(ctx: Context): Promise<void> {
  await tryEach(ctx.control.branches.stored({}), async (branch) => {
    if (await ctx.control.branches.isOver(branch)) await removeBranch(ctx, branch);
  }, REMOVED_AT_ONCE);
}

const DATABASES_AT_ONCE = 50;

/**
 * Empties a namespace whose record is gone: its tokens, members and audit, its databases, its account, then the note
 * about it. After a crash it can be repeated.
 */
export async function clearNamespace(
  ctx: ContextWithMoney,
  namespaceId: string,
): Promise<void> {
  await ctx.control.tokens.removeAll(namespaceId);
  await ctx.control.audit.removeAll(namespaceId);
  await ctx.control.members.removeAll(namespaceId);
  for (;;) {
    const page = await ctx.control.databases.list(namespaceId, {
      cursor: null,
      pageSize: DATABASES_AT_ONCE,
    });
    await tryEach(page.records, (database) => removeDatabase(ctx, database), REMOVED_AT_ONCE);
    if (page.nextCursor === null) break;
  }
  await removeBranches(ctx, { namespaceId });
  await dropDeleted(ctx, namespaceId);
  await ctx.ledger.remove(namespaceId);
  await ctx.control.leftovers.end(namespaceId);
}

/**
 * Finishes what a crash left half made or half deleted, and drops deleted databases whose time is over. One failure
 * keeps nothing else from being dropped; what failed is tried again ten minutes later. Errors: the first failure,
 * after everything was tried.
 */
export async function sweepLeftovers(ctx: ContextWithMoney): Promise<void> {
  const parts = [
    () => dropDeleted(ctx, null),
    () => removeOverBranches(ctx),
    async () => await tryEach(await ctx.control.leftovers.takeAbandoned(), (one) => takeAway(ctx, one)),
  ];
  await inLentRoom(ctx.tenants, () => tryEach(parts, (part) => part()));
}

async function takeAway(ctx: ContextWithMoney, { id, kind }: Abandoned): Promise<void> {
  if (kind === "namespace") return await clearNamespace(ctx, id);
  await forgetRecords(ctx.control, id);
  if (isId("db", id)) await ctx.tenants.drop(id);
  await ctx.control.leftovers.end(id);
}
