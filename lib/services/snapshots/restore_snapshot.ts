// Makes a database what a snapshot says. What it was before is a snapshot afterwards, and the log of what happened
// goes on.
import { callerId, requireRole } from "../../access/caller.ts";
import type { Rules } from "../../control/rules.ts";
import { AppError, failedWith } from "../../core/errors.ts";
import { autoLabel } from "../../query/choose_snapshot.ts";
import { type HeldImport, type HeldStep, writeHeldRestore } from "../../query/held_call.ts";
import { type HoldContext, holdForApproval, replayOfStep } from "../../query/hold_call.ts";
import { matchRules, type RuleMatch } from "../../query/match_rules.ts";
import { answered, START_OVER, untilAnswered } from "../../query/pipeline.ts";
import { recordEnd } from "../../query/record.ts";
import { type RestoreEffect, UNREADABLE_DIGEST } from "../../sql/service/branch_report.ts";
import type { RuleRecord } from "../../store/write_records.ts";
import type { Restored as StoreRestored } from "../../tenant/damage.ts";
import type { LogIdentity } from "../../tenant/tenant_store.ts";
import { deniedBy, writeFacts } from "../branches/find_merge_rules.ts";
import { answerOfStep, type StepContext, stepKeys } from "../plan_step.ts";
import { databaseOf, restoreLog, type SnapshotContext } from "./manage_snapshots.ts";

/** What a restore in place needs of a request. */
export interface RestoreContext extends SnapshotContext, HoldContext, StepContext {
  readonly clock: SnapshotContext["clock"];
  readonly rules: Rules;
}

/** What a restore in place has done. */
export interface Restored {
  readonly snapshot: string;
  /** Label of the snapshot that undoes this; null where the state before could not be read any more. */
  readonly undo: string | null;
  /** Name under which a damaged state before is kept; null where nothing was damaged, or nothing was there. */
  readonly setAside: string | null;
}

/** Which snapshot is restored, and for whom. */
export interface RestoreInput {
  readonly snapshot: string;
  /** The row of the call that does it. */
  readonly as?: LogIdentity;
  /** Set where the snapshot is what was built of a file. */
  readonly imported?: HeldImport;
  /** What an imported file takes away beside. */
  readonly lost?: readonly string[];
  /** The step of a plan that the import is. */
  readonly step?: HeldStep | undefined;
}

/**
 * Restores the snapshot in place. Errors: `role_too_low`, `snapshot_not_found`, `snapshot_corrupt`, `database_busy`,
 * `storage_full`, `rule_denied`, `approval_required` with the approval envelope, `too_many_approvals`, `outcome_unknown`.
 */
export async function restoreSnapshot(
  ctx: RestoreContext,
  { snapshot, as, imported, lost = [], step = ctx.plan }: RestoreInput,
): Promise<Restored> {
  requireRole(ctx.target, "admin");
  const log = as ?? restoreLog(ctx, { databaseId: ctx.target.databaseId, snapshot });
  const told = imported && { ...imported, notKept: [...imported.notKept, ...lost] };
  const restore = { snapshot, log, rowsWritten: imported?.rows, imported: told };
  const rules = await ctx.rules.of(ctx.target.databaseId) ?? [];
  if (!rules.some(({ enabled }) => enabled)) return await runRestore(ctx, restore);
  return await logged(ctx, restore, () =>
    restoreAfterPreview(ctx, restore, async (effect) => {
      const matches = findRestoreRules(rules, effect);
      if (matches.length > 0) {
        throw await holdRestore(ctx, matches, { restore: { snapshot, effect }, imported, plan: step });
      }
    }));
}

/** Which snapshot is restored, and the row that this leaves in the query log. */
export interface PreviewedRestore {
  readonly snapshot: string;
  readonly log: LogIdentity;
  /** In that row: those of an imported file. Absent: 0. */
  readonly rowsWritten?: number | undefined;
  /** What was built of a file, as it is answered. Absent: it is no import. */
  readonly imported?: HeldImport | undefined;
}

/**
 * Restores exactly what was previewed: `decide` is given what the restore would do (null: not known) and throws where
 * that must not happen. Errors: those of the decision, `database_busy` where what it would do keeps changing.
 */
export async function restoreAfterPreview(
  ctx: RestoreContext,
  restore: PreviewedRestore,
  decide: (effect: RestoreEffect | null) => Promise<void>,
): Promise<Restored> {
  return await untilAnswered(async () => {
    const effect = await databaseOf(ctx).compareSnapshot(restore.snapshot);
    await decide(effect);
    try {
      return answered(await runRestore(ctx, { ...restore, expects: effect?.digest ?? UNREADABLE_DIGEST }));
    } catch (error) {
      if (failedWith(error, "effect_changed")) return START_OVER;
      throw error;
    }
  }, () =>
    new AppError("database_busy", {
      message: "Try again when nobody writes the database; what the restore would do keeps changing",
    }));
}

async function runRestore(
  ctx: RestoreContext,
  { snapshot, log, rowsWritten, imported, expects }: PreviewedRestore & { readonly expects?: string },
): Promise<Restored> {
  const undo = autoLabel(ctx.clock, "restore", snapshot);
  const place: RestorePlace = { snapshot, undo, queryLogId: log.id, ...(imported ? { imported } : {}) };
  const replay = stepKeys(ctx, JSON.stringify(place));
  const options = {
    undoLabel: place.undo,
    log,
    rowsWritten,
    replay,
    ...(expects === undefined ? {} : { expects }),
  };
  return restoredView(place, await databaseOf(ctx).restore(snapshot, options));
}

/** The labels of a restore: of the snapshot that comes back, and for that of the state before. */
interface RestorePlace {
  readonly snapshot: string;
  readonly undo: string;
  /** Absent in an answer of an earlier version. */
  readonly queryLogId?: string;
  /** Set where it has put a file in place. */
  readonly imported?: HeldImport;
}

/** What a restore has answered before. */
export interface RestoredBefore {
  readonly restored: Restored;
  readonly queryLogId: string;
  /** Undefined: it has put no file in place. */
  readonly imported: HeldImport | undefined;
  readonly durationMs: number;
}

/** What the same step, or the same redemption, has restored; null: nothing. Errors: those of `answerOfStep`. */
export async function restoredBefore(ctx: RestoreContext): Promise<RestoredBefore | null> {
  const earlier = await answerOfStep(ctx, databaseOf(ctx)).catch((error) => {
    // Nobody can read in it what it has answered, and to bring it back is what is asked.
    if (failedWith(error, "database_corrupt")) return null;
    throw error;
  });
  if (earlier === null) return null;
  const { durationMs, context, results: [result] } = earlier;
  const place: RestorePlace = JSON.parse(context);
  const { queryLogId = "", imported } = place;
  return { queryLogId, imported, durationMs, restored: restoredView(place, JSON.parse(result?.json ?? "")) };
}

/** What a restore answers. */
function restoredView({ snapshot, undo }: RestorePlace, restored: StoreRestored): Restored {
  return { snapshot, undo: restored.undo ? undo : null, setAside: restored.setAside };
}

/** A restore that rules have stopped leaves its row in the log as well. */
export async function logged<T>(
  ctx: RestoreContext,
  { log, rowsWritten = 0 }: Pick<PreviewedRestore, "log" | "rowsWritten">,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = ctx.clock.monotonicMs();
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && STOPPED.has(error.code)) {
      const durationMs = Math.round(ctx.clock.monotonicMs() - startedMs);
      recordEnd(databaseOf(ctx), log, { errorKind: error.code, rowsRead: 0, rowsWritten, durationMs });
    }
    throw error;
  }
}

const STOPPED: ReadonlySet<string> = new Set(["rule_denied", "approval_required", "effect_changed"]);

/** Held with what it would do. */
function holdRestore(
  ctx: RestoreContext,
  matches: readonly RuleMatch[],
  held: Parameters<typeof writeHeldRestore>[0],
): Promise<AppError> {
  return holdForApproval(ctx, {
    target: ctx.target,
    tokenId: callerId(ctx.caller),
    operation: "restore",
    matches,
    replay: held.plan ? replayOfStep(held.plan) : null,
    affectedRows: held.restore.effect?.rows ?? null,
    text: (covers) => writeHeldRestore(held, covers),
  });
}

/**
 * The rules that hold a restore for a person: what it does to tables counts as if statements did it. `effect` null:
 * what it would do is not known, so that it may do anything to every table. Errors: `rule_denied`.
 */
export function findRestoreRules(rules: readonly RuleRecord[], effect: RestoreEffect | null): RuleMatch[] {
  const enabled = rules.filter((rule) => rule.enabled);
  const matches = effect === null ? enabled.map(matchUnseen) : matchRestore(enabled, effect);
  const denied = deniedBy(matches);
  if (denied) throw denied;
  return matches;
}

/** All rows of a table are replaced, whichever they are: nothing bounds that. */
function matchRestore(rules: readonly RuleRecord[], { writes, rows }: RestoreEffect): RuleMatch[] {
  const actions = writes.map(({ action, table }) => `${action} ${table}`);
  const emptied = writes.map(({ table }) => table);
  const matches = matchRules(rules, [{ ...writeFacts, hasWhere: false, actions, emptied }]);
  return matches.filter(({ rule, about }) =>
    rule.minRows === null || rows >= rule.minRows ||
    // What a change of the schema does is not told by a number of rows.
    about.some((one) => one.startsWith(`${rule.id} schema `))
  );
}

function matchUnseen(rule: RuleRecord): RuleMatch {
  const { id, tableGlob, effect, note, actions } = rule;
  const action = actions?.[0] ?? "schema";
  const hit = { ruleId: id, tableGlob, effect, table: tableGlob, action, note };
  return { rule, hits: [hit], about: [`${id} unseen`] };
}
