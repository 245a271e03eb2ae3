// A snapshot that somebody asked for.
import { requireRole } from "../../access/require_role.ts";
import { isoTime } from "../../core/clock.ts";
import { databaseOf, type SnapshotContext } from "./snapshot_context.ts";
import { type SnapshotView, snapshotView } from "./snapshot_view.ts";

/** Without a label it gets one of its time. Errors: `role_too_low`, `slug_taken`, `storage_full`. */
export async function takeSnapshot(
  ctx: SnapshotContext,
  input: { readonly label?: string | undefined },
): Promise<SnapshotView> {
  requireRole(ctx.target, "write");
  const label = input.label ?? `manual-${isoTime(ctx.clock.now()).replaceAll(/[-:.]/g, "")}`;
  return snapshotView(await databaseOf(ctx).takeSnapshot(label));
}
