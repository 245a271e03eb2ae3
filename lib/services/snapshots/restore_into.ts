// A new database from a snapshot of another one.
import type { TokenCaller } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { addDatabase, type NewStorage } from "../databases/add_database.ts";
import { type DatabaseView, databaseView } from "../databases/database_view.ts";
import { requireNamespaceAdmin } from "../../access/require_namespace_admin.ts";
import { databaseOf, type SnapshotContext } from "./snapshot_context.ts";

export interface RestoreIntoContext extends SnapshotContext, NewStorage {
  readonly token: TokenCaller;
}

/**
 * Needs a token that may make databases. Errors: those of `requireNamespaceAdmin`, `snapshot_not_found`,
 * `slug_taken`.
 */
export async function restoreInto(
  ctx: RestoreIntoContext,
  input: { readonly snapshot: string; readonly into: string },
): Promise<DatabaseView> {
  requireNamespaceAdmin(ctx.token, ctx.target.namespaceSlug);
  const snapshots = await databaseOf(ctx).snapshots();
  if (!snapshots.some((one) => one.label === input.snapshot)) throw new AppError("snapshot_not_found");
  const record = await addDatabase(ctx, {
    ...{ namespaceId: ctx.target.namespaceId, slug: input.into, name: input.into },
    make: (databaseId) =>
      ctx.tenants.copy(databaseId, { databaseId: ctx.target.databaseId, snapshot: input.snapshot }),
  });
  return await databaseView(ctx.tenants, record);
}
