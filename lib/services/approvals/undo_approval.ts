// Takes back a write that was approved and has run: a restore of the snapshot before it, which a person has seen.
import { type PersonCaller, requirePerson } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { SchemaChange } from "../../sql/service/branch_report.ts";
import type { ApprovalOutcome, ApprovalRecord } from "../../store/write_records.ts";
import { withAct } from "../note_act.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { previewRestore, restoreSeen } from "../snapshots/restore_seen.ts";
import type { RestoreContext } from "../snapshots/restore_snapshot.ts";
import {
  actOn,
  type ApprovalContext,
  type ApprovalPath,
  deciderOf,
  requireApproval,
  targetOf,
} from "./approval_context.ts";
import { outcomeView } from "./approval_view.ts";
import { type ApprovalPage, approvalPage } from "./read_approvals.ts";

/** What taking it back would do now: also to what others have written since. */
export interface UndoPreview {
  readonly snapshot: string;
  /** Equal for the same effect; null: the present state cannot be read. */
  readonly digest: string | null;
  readonly rows: number | null;
  readonly tables: readonly {
    readonly table: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
  }[];
  readonly schema: readonly SchemaChange[];
}

/**
 * Errors: `person_required`, `approval_not_found`, `nothing_to_undo`, `snapshot_not_found`, `snapshot_corrupt`, those of
 * `requireNamespace`.
 */
export async function previewUndo(ctx: ApprovalContext, path: ApprovalPath): Promise<UndoPreview> {
  const { restore, snapshot } = await undoOf(ctx, path);
  const effect = await previewRestore(restore, { snapshot });
  return {
    snapshot,
    digest: effect?.digest ?? null,
    rows: effect?.rows ?? null,
    tables: (effect?.tables ?? []).map(({ table, added, removed, changed }) => ({
      table,
      added,
      removed,
      changed,
    })),
    schema: effect?.schema ?? [],
  };
}

/** Which approval, and the effect that the person has seen; without it any is taken. */
export interface UndoInput extends ApprovalPath {
  readonly digest?: string | null | undefined;
}

/**
 * Restores the snapshot, and notes it. Errors: those of `previewUndo`, `sign_in_again`, `effect_changed` where it would
 * do something else than was seen, `rule_denied`, those of a restore.
 */
export async function undoApproval(ctx: ApprovalContext, input: UndoInput): Promise<ApprovalPage> {
  const { record, outcome, person, restore, snapshot } = await undoOf(ctx, input);
  // Read before it is done: a failure of KV afterwards must not tell the person that it is not.
  const page = await approvalPage(ctx, record);
  const restored = await restoreSeen(restore, { snapshot, digest: input.digest });
  const undone = { at: ctx.clock.now(), by: deciderOf(person), snapshot: restored.undo };
  const act = withAct(ctx, "approval.undone", await actOn(ctx, record));
  await ctx.query.approvals.noteOutcome(record, { ...outcome, undone }, act);
  return { ...page, outcome: outcomeView({ ...outcome, undone }) };
}

interface Undo {
  readonly record: ApprovalRecord;
  readonly outcome: Extract<ApprovalOutcome, { kind: "ran" }>;
  readonly person: PersonCaller;
  readonly restore: RestoreContext;
  readonly snapshot: string;
}

async function undoOf(ctx: ApprovalContext, { namespaceSlug, approvalId }: ApprovalPath): Promise<Undo> {
  const { caller: person } = ctx;
  requirePerson(person, namespaceSlug);
  const namespace = await requireNamespace(ctx, namespaceSlug);
  const record = await requireApproval(ctx, namespace.id, approvalId);
  const { outcome } = record;
  if (outcome?.kind !== "ran" || outcome.snapshot === null || outcome.undone !== undefined) {
    throw new AppError("nothing_to_undo");
  }
  const target = await targetOf(ctx, record, namespace.slug);
  const restore = { ...ctx.query, target, caller: person };
  return { record, outcome, person, restore, snapshot: outcome.snapshot };
}
