// Makes a database what a snapshot says. What it was before is a snapshot afterwards, and the log of what happened goes on.
import { requireRole } from "../../access/require_role.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { restoreLog } from "./restore_log.ts";
import { databaseOf, type SnapshotContext } from "./snapshot_context.ts";

export interface Restored {
  readonly snapshot: string;
  /** Label of the snapshot that undoes this; null where the state before could not be read any more. */
  readonly undo: string | null;
  /** Name under which a damaged state before is kept; null where nothing was damaged, or nothing was there. */
  readonly setAside: string | null;
}

/** Errors: `role_too_low`, `snapshot_not_found`, `snapshot_corrupt`, `database_busy`, `storage_full`. */
export async function restoreSnapshot(
  ctx: SnapshotContext,
  input: { readonly snapshot: string },
): Promise<Restored> {
  requireRole(ctx.target, "admin");
  const { snapshot } = input;
  const undo = autoLabel(ctx.clock, "restore", snapshot);
  const log = restoreLog(ctx, { databaseId: ctx.target.databaseId, snapshot });
  const restored = await databaseOf(ctx).restore(snapshot, { undoLabel: undo, log });
  return { snapshot, undo: restored.undo ? undo : null, setAside: restored.setAside };
}
