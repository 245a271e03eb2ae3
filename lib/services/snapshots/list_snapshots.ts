// The snapshots of a database, newest first.
import { databaseOf, type SnapshotContext } from "./snapshot_context.ts";
import { type SnapshotView, snapshotView } from "./snapshot_view.ts";

export async function listSnapshots(ctx: SnapshotContext): Promise<SnapshotView[]> {
  return (await databaseOf(ctx).snapshots()).map(snapshotView);
}
