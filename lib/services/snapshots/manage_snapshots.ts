// Lists and takes snapshots of a database, and makes a new database of one.
import { type Caller, requireFresh, requireNamespaceAdmin, requireRole } from "../../access/caller.ts";
import type { Target } from "../../access/resolve_target.ts";
import { type Clock, isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { labelTime } from "../../query/choose_snapshot.ts";
import { identifyWork } from "../../query/record.ts";
import type { SnapshotInfo } from "../../tenant/snapshots.ts";
import type { LogIdentity, TenantDatabase, TenantStore } from "../../tenant/tenant_store.ts";
import { addDatabase, type NewStorage } from "../databases/add_database.ts";
import type { DatabaseView } from "../databases/database_record.ts";

/** What the services for snapshots need of a request. */
export interface SnapshotContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly target: Target;
  /** Whoever asks: an API token, or a person. */
  readonly caller: Caller;
}

/** The addressed database. */
export function databaseOf({ tenants, target }: SnapshotContext): TenantDatabase {
  return tenants.open(target);
}

/** A snapshot as the API shows it. */
export interface SnapshotView {
  readonly label: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly automatic: boolean;
}

function snapshotView({ label, createdAt, sizeBytes, automatic }: SnapshotInfo): SnapshotView {
  return { label, createdAt: isoTime(createdAt), sizeBytes, automatic };
}

/** The snapshots of a database, newest first. */
export async function listSnapshots(ctx: SnapshotContext): Promise<SnapshotView[]> {
  return (await databaseOf(ctx).snapshots()).map(snapshotView);
}

/**
 * Takes a snapshot. Without a label it is named after the time. Errors: `role_too_low`, `slug_taken`, `storage_full`.
 */
export async function takeSnapshot(
  ctx: SnapshotContext,
  input: { readonly label?: string | undefined },
): Promise<SnapshotView> {
  requireRole(ctx.target, "write");
  const label = input.label ?? `manual-${labelTime(ctx.clock)}`;
  return snapshotView(await databaseOf(ctx).takeSnapshot(label));
}

/** What it takes to make a database of a snapshot. */
export type RestoreIntoContext = SnapshotContext & NewStorage;

/**
 * Makes a new database of a snapshot of another one, for whoever may create databases. Errors:
 * `sign_in_again`, those of `requireNamespaceAdmin`, `snapshot_not_found`, `slug_taken`.
 */
export async function restoreInto(
  ctx: RestoreIntoContext,
  input: { readonly snapshot: string; readonly into: string },
): Promise<DatabaseView> {
  requireNamespaceAdmin(ctx.caller, ctx.target.namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const { snapshot, into } = input;
  const snapshots = await databaseOf(ctx).snapshots();
  if (!snapshots.some((one) => one.label === snapshot)) throw new AppError("snapshot_not_found");
  return await addDatabase(ctx, {
    namespaceId: ctx.target.namespaceId,
    slug: into,
    name: into,
    make: async (databaseId) => {
      const log = restoreLog(ctx, { databaseId, snapshot });
      await ctx.tenants.copy(databaseId, { databaseId: ctx.target.databaseId, snapshot, log });
      return null;
    },
  });
}

/** The row that a restore leaves in the query log of the database that it has changed or made. */
export function restoreLog(
  ctx: SnapshotContext,
  { databaseId, snapshot }: { readonly databaseId: string; readonly snapshot: string },
): LogIdentity {
  const { namespaceId, databaseSlug } = ctx.target;
  return identifyWork(ctx, {
    target: { namespaceId, databaseId },
    operation: "restore",
    what: `snapshot ${snapshot} of ${databaseSlug}`,
  });
}
