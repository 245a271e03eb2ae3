// Moments of a database that are archived off this machine: how far the archive is, and a snapshot of one of them.
import { requireFresh, requireNamespaceAdmin, requireRole } from "../../access/caller.ts";
import { isoTime } from "../../core/clock.ts";
import { AppError, invalidInput } from "../../core/errors.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import type { MomentArchive } from "../../tenant/moment_archive.ts";
import type { DatabaseView } from "../databases/database_record.ts";
import { restoreInto, type RestoreIntoContext, type SnapshotContext } from "./manage_snapshots.ts";

/** How far a database is archived. */
export interface ArchiveView {
  /** Whether this service archives anything. */
  readonly on: boolean;
  /** The earliest moment that can be brought back; null: there is none yet, or `problem` keeps it from being known. */
  readonly archivedFrom: string | null;
  /** Null, like the lag: nothing of it is archived yet. */
  readonly archivedUntil: string | null;
  readonly lagMs: number | null;
  readonly problem: ArchiveProblem | null;
}

/** What is wrong with the archive of a database. */
export type ArchiveProblem = "archive_away" | "archive_taken" | "archive_damaged";

/** How far the addressed database is archived. */
export async function readArchive({ tenants, target }: SnapshotContext): Promise<ArchiveView> {
  const none = { archivedFrom: null, archivedUntil: null, lagMs: null, problem: null };
  if (tenants.archive === null) return { on: false, ...none };
  const first = await firstOf(tenants.archive, target.databaseId);
  const { archivedUntilMs, lagMs, strain } = await tenants.archive.status(target.databaseId);
  return {
    on: true,
    archivedFrom: first.ms === null ? null : isoTime(first.ms),
    archivedUntil: archivedUntilMs === null ? null : isoTime(archivedUntilMs),
    lagMs,
    problem: strain ?? first.problem,
  };
}

async function firstOf(
  archive: MomentArchive,
  databaseId: string,
): Promise<{ readonly ms: number | null; readonly problem: ArchiveProblem | null }> {
  try {
    return { ms: await archive.firstMs(databaseId), problem: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ms: null, problem: error.code === "archive_damaged" ? "archive_damaged" : "archive_away" };
  }
}

/** The moment that a label of `snapshotOfMoment` is named after; null: it is another snapshot's. */
export function momentOf(label: string): string | null {
  const parts = /^auto-\w+-moment-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(label);
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second, ms] = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`;
}

/**
 * Makes a snapshot of a moment, and returns its label. Errors: `role_too_low`, `archive_off`, `validation_failed` for a
 * moment that is still to come, and those of `MomentArchive.toSnapshot`.
 */
export async function snapshotOfMoment(ctx: SnapshotContext, at: string): Promise<string> {
  requireRole(ctx.target, "admin");
  const archive = archiveOf(ctx);
  const atMs = Date.parse(at);
  if (atMs > ctx.clock.now()) {
    throw invalidInput("at", "Set this to a moment that has passed; it is still to come");
  }
  const label = autoLabel(ctx.clock, "moment", isoTime(atMs).replaceAll(/[-:.]/g, ""));
  await archive.toSnapshot(ctx.target.databaseId, { atMs, label });
  return label;
}

/** Who wants a moment: `again` finds the database once more. May throw: whoever asked may no longer reach it. */
export interface MomentCaller {
  readonly again: () => Promise<unknown>;
}

/**
 * Makes a snapshot of a moment that is to be restored. Building it may take minutes, so whoever asked is looked at once more,
 * and nothing of it stays where that fails. Errors: those of `snapshotOfMoment` and of `again`.
 */
export async function snapshotToRestore(ctx: SnapshotContext & MomentCaller, at: string): Promise<string> {
  const label = await snapshotOfMoment(ctx, at);
  try {
    await ctx.again();
  } catch (error) {
    await ctx.tenants.transfers?.forget(ctx.target, label);
    throw error;
  }
  return label;
}

/**
 * Makes a new database of a moment. Building the moment takes long and leaves a snapshot as large as the database, so what
 * would refuse the new one is asked first, and a failure leaves no snapshot. Errors: those of `snapshotToRestore` and of
 * `restoreInto`.
 */
export async function restoreMomentInto(
  ctx: RestoreIntoContext & MomentCaller,
  { at, into }: { readonly at: string; readonly into: string },
): Promise<DatabaseView> {
  const { caller, clock, control, target, tenants } = ctx;
  requireNamespaceAdmin(caller, target.namespaceSlug);
  requireFresh(caller, clock.now());
  if (await control.databases.bySlug(target.namespaceId, into) !== null) throw new AppError("slug_taken");
  const snapshot = await snapshotToRestore(ctx, at);
  try {
    return await restoreInto(ctx, { snapshot, into });
  } catch (error) {
    await tenants.transfers?.forget(target, snapshot);
    throw error;
  }
}

function archiveOf({ tenants }: SnapshotContext): MomentArchive {
  if (tenants.archive === null) throw new AppError("archive_off");
  return tenants.archive;
}
