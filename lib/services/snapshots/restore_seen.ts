// A restore by a person who has seen what it changes. Rules hold writes for a person; here a person decides in the same
// moment, so only a rule that denies stops it.
import { requireFresh, requirePerson, requireRole } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import { databaseOf, restoreLog } from "./manage_snapshots.ts";
import {
  findRestoreRules,
  logged,
  restoreAfterPreview,
  type RestoreContext,
  type Restored,
} from "./restore_snapshot.ts";

/**
 * What a restore would do now, also to what others have written since; null: the present state cannot be read. Errors:
 * `role_too_low`, `snapshot_not_found`, `snapshot_corrupt`.
 */
export async function previewRestore(
  ctx: RestoreContext,
  { snapshot }: { readonly snapshot: string },
): Promise<RestoreEffect | null> {
  requireRole(ctx.target, "admin");
  return await databaseOf(ctx).compareSnapshot(snapshot);
}

/** Which snapshot, and the digest of the effect that the person has seen; null: it could not be read; absent: any. */
export interface SeenRestore {
  readonly snapshot: string;
  readonly digest?: string | null | undefined;
}

/**
 * Restores the snapshot in place. Errors: those of `requirePerson`, `sign_in_again`, `effect_changed` where it would do
 * something else than was seen, `rule_denied`, those of `previewRestore`, `database_busy`, `storage_full`.
 */
export async function restoreSeen(ctx: RestoreContext, { snapshot, digest }: SeenRestore): Promise<Restored> {
  const { databaseId, namespaceSlug } = ctx.target;
  requirePerson(ctx.caller, namespaceSlug);
  requireFresh(ctx.caller, ctx.clock.now());
  const decide = async (effect: RestoreEffect | null) => {
    if (digest !== undefined && digest !== (effect?.digest ?? null)) {
      throw new AppError("effect_changed", {
        message: "Look again at what this would do; the database has changed since",
      });
    }
    findRestoreRules(await ctx.rules.of(databaseId) ?? [], effect);
  };
  const log = restoreLog(ctx, { databaseId, snapshot });
  return await logged(ctx, { log }, () => restoreAfterPreview(ctx, { snapshot, log }, decide));
}
