// Redeems the approval of a restore: its token is claimed already. It does exactly what was seen, whatever a rule
// tolerates.
import { requireRole } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { type HeldCall, type HeldRestore, heldText } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import type { RestoreEffect } from "../../sql/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { restoreLog } from "../snapshots/manage_snapshots.ts";
import {
  findRestoreRules,
  logged,
  restoreAfterPreview,
  type RestoreContext,
  type Restored,
} from "../snapshots/restore_snapshot.ts";
import { afterRefusal, lookAgain } from "./after_failure.ts";

/** Restores. Errors: `effect_changed` with both figures, then a person has to look again; those of a restore. */
export async function redeemRestore(
  ctx: RestoreContext,
  record: ApprovalRecord,
  held: HeldCall & { readonly restore: HeldRestore },
): Promise<Restored> {
  const { snapshot, effect: approved } = held.restore;
  const log = restoreLog(ctx, { databaseId: ctx.target.databaseId, snapshot });
  const decide = async (effect: RestoreEffect | null) => {
    const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
    const anew = findRestoreRules(rules, effect).filter(({ about }) =>
      about.some((one) => !held.covers.includes(one))
    );
    if (effect?.digest === approved?.digest && anew.length === 0) return;
    throw await lookAgain(ctx, record, lookOf(held, { snapshot, effect }, anew));
  };
  try {
    requireRole(ctx.target, "admin");
    const restored = await logged(ctx, log, () => restoreAfterPreview(ctx, { snapshot, log }, decide));
    const ran = { rowsWritten: approved?.rows ?? null, queryLogId: log.id, snapshot: restored.undo };
    await ctx.approvals.noteOutcome(record, { kind: "ran", at: ctx.clock.now(), ...ran });
    return restored;
  } catch (error) {
    const isLooked = error instanceof AppError && error.code === "effect_changed";
    if (!isLooked) await afterRefusal(ctx, record, error);
    throw error;
  }
}

function lookOf(held: HeldCall, restore: HeldRestore, matches: readonly RuleMatch[]) {
  const covers = new Set([...held.covers, ...matches.flatMap(({ about }) => about)]);
  return {
    affectedRows: restore.effect?.rows ?? null,
    text: heldText({ ...held, covers: [...covers], restore }),
    matches,
  };
}
