// Redeems the approval of a restore, also of one that puts an imported file in place: its token is claimed already. It does
// exactly what was seen, whatever a rule tolerates.
import { requireRole } from "../../access/caller.ts";
import { failedWith } from "../../core/errors.ts";
import { type HeldCall, type HeldRestore, heldText } from "../../query/held_call.ts";
import type { RuleMatch } from "../../query/match_rules.ts";
import type { QueryMeta } from "../../query/query_call.ts";
import type { RestoreEffect } from "../../sql/service/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { lostRecords } from "../migrations/migration_state.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { restoreLog } from "../snapshots/manage_snapshots.ts";
import {
  findRestoreRules,
  logged,
  restoreAfterPreview,
  type RestoreContext,
  type Restored,
  type RestoredBefore,
  restoredBefore,
} from "../snapshots/restore_snapshot.ts";
import type { Imported } from "../transfer/import_file.ts";
import { afterRefusal, coversToo, lookAgain, notCovered } from "./after_failure.ts";

/** What a call that nobody held would have answered, and the figures of the restore. */
export interface RestoreAnswer {
  readonly data: Restored | Imported;
  readonly meta: Omit<QueryMeta, "rowsReadBasis" | "warnings">;
}

/**
 * Restores. `meta` has the rows of its row in the query log and what was taken for it: a restore brings back a whole state,
 * counts no rows and is free; an imported file was paid for when that was held. `durationMs` is from the claim to the
 * restored state, a look at it included. Errors: `effect_changed` with both figures, then a person has to look again;
 * those of a restore.
 */
export async function redeemRestore(
  ctx: RestoreContext & StatementsContext,
  record: ApprovalRecord,
  held: HeldCall & { readonly restore: HeldRestore },
): Promise<RestoreAnswer> {
  const { imported, restore: { snapshot, effect: approved } } = held;
  const startedMs = ctx.clock.monotonicMs();
  const log = restoreLog(ctx, { databaseId: ctx.target.databaseId, snapshot });
  const decide = async (effect: RestoreEffect | null) => {
    const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
    const anew = notCovered(held, findRestoreRules(rules, effect));
    if (effect?.digest === approved?.digest && anew.length === 0) return;
    throw await lookAgain(ctx, record, lookOf(held, { snapshot, effect }, anew));
  };
  try {
    const earlier = await restoreRedeemed(ctx, record, held);
    if (earlier !== null) return earlier;
    requireRole(ctx.target, "admin");
    // Read before they are gone.
    const lost = imported ? await lostRecords(ctx) : [];
    const told = imported && { ...imported, notKept: [...imported.notKept, ...lost] };
    const restore = { snapshot, log, imported: told };
    const restored = await logged(ctx, { log }, () => restoreAfterPreview(ctx, restore, decide));
    const durationMs = Math.round(ctx.clock.monotonicMs() - startedMs);
    return await noteRestored(ctx, record, held, {
      restored,
      durationMs,
      queryLogId: log.id,
      imported: told,
    });
  } catch (error) {
    const isLooked = failedWith(error, "effect_changed");
    if (!isLooked) await afterRefusal(ctx, record, error);
    throw error;
  }
}

/** What a redemption of it has answered, whose process may have ended since; null: nothing. Errors: those of the store. */
export async function restoreRedeemed(
  ctx: RestoreContext & StatementsContext,
  record: ApprovalRecord,
  held: HeldCall & { readonly restore: HeldRestore },
): Promise<RestoreAnswer | null> {
  const earlier = await restoredBefore(ctx);
  return earlier && await noteRestored(ctx, record, held, earlier);
}

async function noteRestored(
  { approvals }: StatementsContext,
  record: ApprovalRecord,
  { restore: { effect } }: { readonly restore: HeldRestore },
  { restored, durationMs, queryLogId, imported }: RestoredBefore,
): Promise<RestoreAnswer> {
  const left = { queryLogId, snapshot: restored.undo };
  if (record.outcome?.kind !== "ran") {
    await approvals.noteRan(record, { rowsWritten: effect?.rows ?? null, ...left });
  }
  return {
    data: imported ? { ...imported, snapshot: restored.undo } : restored,
    meta: { rowsRead: 0, rowsWritten: 0, durationMs, statementCount: 1, costUsd: 0, ...left },
  };
}

function lookOf(held: HeldCall, restore: HeldRestore, matches: readonly RuleMatch[]) {
  return {
    affectedRows: restore.effect?.rows ?? null,
    text: heldText({ ...held, covers: coversToo(held, matches), restore }),
    matches,
  };
}
