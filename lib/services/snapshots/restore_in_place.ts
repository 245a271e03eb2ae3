// A restore in place as a caller asks for it: of a snapshot or of an archived moment. As a step of a plan it restores once,
// because a repetition would undo what was written since.
import { type MomentCaller, snapshotToRestore } from "./archived_moment.ts";
import { type RestoreContext, type Restored, restoredBefore, restoreSnapshot } from "./restore_snapshot.ts";

/** What is brought back: one of both. */
export interface RestoreInPlaceInput {
  readonly snapshot?: string | undefined;
  /** A moment that is archived, as ISO 8601. */
  readonly at?: string | undefined;
}

/**
 * Restores, or tells what the same step of a plan has restored (`replayed`). Errors: those of `snapshotToRestore` and of
 * `restoreSnapshot`, `replay_mismatch`.
 */
export async function restoreInPlace(
  ctx: RestoreContext & MomentCaller,
  { snapshot = "", at }: RestoreInPlaceInput,
): Promise<{ readonly data: Restored; readonly replayed: boolean }> {
  const earlier = await restoredBefore(ctx);
  if (earlier !== null) return { data: earlier.restored, replayed: true };
  const label = at === undefined ? snapshot : await snapshotToRestore(ctx, at);
  return { data: await restoreSnapshot(ctx, { snapshot: label }), replayed: false };
}
