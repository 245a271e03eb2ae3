// Moments of a database that are archived off this machine: how far the archive is, and a snapshot of one of them.
import { requireNamespaceAdmin, requireRole } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import type { MomentArchive } from "../../tenant/moment_archive.ts";
import type { SnapshotContext } from "./manage_snapshots.ts";

/** How far a database is archived. */
export interface ArchiveView {
  /** Whether this service archives anything. */
  readonly on: boolean;
  /** Null, like the lag: nothing of it is archived yet. */
  readonly archivedUntil: string | null;
  readonly lagMs: number | null;
}

/** How far the addressed database is archived. */
export async function readArchive({ tenants, target }: SnapshotContext): Promise<ArchiveView> {
  if (tenants.archive === null) return { on: false, archivedUntil: null, lagMs: null };
  const { archivedUntilMs, lagMs } = await tenants.archive.status(target.databaseId);
  return {
    on: true,
    archivedUntil: archivedUntilMs === null ? null : isoTime(archivedUntilMs),
    lagMs,
  };
}

/**
 * Makes a snapshot of a moment, and returns its label. `isForNew`: a new database is made of it, which not everybody may.
 * Errors: those of `requireNamespaceAdmin`, `role_too_low`, `archive_off`, `validation_failed` for a
 * moment that is still to come, and those of `MomentArchive.toSnapshot`.
 */
export async function snapshotOfMoment(
  ctx: SnapshotContext,
  { at, isForNew }: { readonly at: string; readonly isForNew: boolean },
): Promise<string> {
  if (isForNew) requireNamespaceAdmin(ctx.caller, ctx.target.namespaceSlug);
  requireRole(ctx.target, "admin");
  const archive = archiveOf(ctx);
  const atMs = Date.parse(at);
  if (atMs > ctx.clock.now()) {
    throw new AppError("validation_failed", {
      message: "Set at to a moment that has passed; it is still to come",
    });
  }
  const label = autoLabel(ctx.clock, "moment", isoTime(atMs).replaceAll(/[-:.]/g, ""));
  await archive.toSnapshot(ctx.target.databaseId, { atMs, label });
  return label;
}

function archiveOf({ tenants }: SnapshotContext): MomentArchive {
  if (tenants.archive === null) throw new AppError("archive_off");
  return tenants.archive;
}
