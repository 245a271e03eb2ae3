// A new database from a snapshot of another one.
import { AppError } from "../../core/errors.ts";
import { addDatabase, type NewStorage } from "../databases/add_database.ts";
import type { DatabaseView } from "../databases/database_view.ts";
import { requireNamespaceAdmin } from "../../access/require_namespace_admin.ts";
import { restoreLog } from "./restore_log.ts";
import { databaseOf, type SnapshotContext } from "./snapshot_context.ts";

export type RestoreIntoContext = SnapshotContext & NewStorage;

/**
 * Needs a token that may make databases. Errors: those of `requireNamespaceAdmin`, `snapshot_not_found`,
 * `slug_taken`.
 */
export async function restoreInto(
  ctx: RestoreIntoContext,
  input: { readonly snapshot: string; readonly into: string },
): Promise<DatabaseView> {
  requireNamespaceAdmin(ctx.token, ctx.target.namespaceSlug);
  const { snapshot, into } = input;
  const snapshots = await databaseOf(ctx).snapshots();
  if (!snapshots.some((one) => one.label === snapshot)) throw new AppError("snapshot_not_found");
  return await addDatabase(ctx, {
    ...{ namespaceId: ctx.target.namespaceId, slug: into, name: into },
    make: (databaseId) => {
      const log = restoreLog(ctx, { databaseId, snapshot });
      return ctx.tenants.copy(databaseId, { databaseId: ctx.target.databaseId, snapshot, log });
    },
  });
}
