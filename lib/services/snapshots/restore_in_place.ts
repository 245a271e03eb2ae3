// A restore in place as a caller asks for it: of a snapshot or of an archived moment. As a step of a plan it restores once,
// because a repetition would undo what was written since.
import { AppError } from "../../core/errors.ts";
import { replayKeys } from "../../query/find_earlier.ts";
import { readStoredAnswer } from "../../tenant/stored_answer.ts";
import { snapshotOfMoment } from "./archived_moment.ts";
import { databaseOf } from "./manage_snapshots.ts";
import {
  type RestoreContext,
  type Restored,
  restoredView,
  type RestorePlace,
  restoreSnapshot,
} from "./restore_snapshot.ts";

/** What is brought back: one of both. */
export interface RestoreInPlaceInput {
  readonly snapshot?: string | undefined;
  /** A moment that is archived, as ISO 8601. */
  readonly at?: string | undefined;
}

/**
 * Restores, or tells what the same step of a plan has restored (`replayed`). Errors: those of `snapshotOfMoment` and of
 * `restoreSnapshot`, `replay_mismatch`.
 */
export async function restoreInPlace(
  ctx: RestoreContext,
  { snapshot = "", at }: RestoreInPlaceInput,
): Promise<{ readonly data: Restored; readonly replayed: boolean }> {
  const earlier = await restoredBefore(ctx);
  if (earlier !== null) return { data: earlier, replayed: true };
  const label = at === undefined ? snapshot : await snapshotOfMoment(ctx, at);
  return { data: await restoreSnapshot(ctx, { snapshot: label }), replayed: false };
}

/** The restored database itself has the answer: whoever was to note it in KV may have died since. */
async function restoredBefore(ctx: RestoreContext): Promise<Restored | null> {
  if (ctx.plan === undefined) return null;
  const keys = replayKeys(ctx, { idempotency: null, plan: ctx.plan }, "");
  const found = await databaseOf(ctx).findReplay(keys);
  if (found === null) return null;
  if (found.ok === "replay_mismatch") throw new AppError("replay_mismatch");
  const { context, results: [result] } = readStoredAnswer(found.answer);
  const place: RestorePlace = JSON.parse(context);
  return restoredView(place, JSON.parse(result?.json ?? ""));
}
