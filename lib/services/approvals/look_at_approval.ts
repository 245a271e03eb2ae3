// Another look at a write that waits, for the person who decides: what it would do now.
import { callerId, requirePerson } from "../../access/caller.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import {
  cascadedRows,
  type HeldCall,
  type HeldMerge,
  type HeldRestore,
  heldText,
} from "../../query/held_call.ts";
import { identifyWork } from "../../query/record.ts";
import { effectOf, mergeEffectOf } from "../../sql/service/branch_report.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import { requireNamespace } from "../namespaces/namespace_record.ts";
import { newLook } from "./after_failure.ts";
import { type ApprovalContext, type ApprovalPath, requireApproval, targetOf } from "./approval_context.ts";
import { heldCallOf } from "./approval_detail.ts";
import { effectNow } from "./effect_now.ts";
import { migrationsNow } from "./migrations_now.ts";
import { type ApprovalPage, approvalPage } from "./read_approvals.ts";

/** What a call would do now. */
interface Looked {
  readonly held: HeldCall;
  readonly affectedRows: number | null;
  /** Nothing that a person decides by differs from the look before. */
  readonly same: boolean;
}

/**
 * Runs what waits and undoes it, at no price. Where anything differs from the last look, this is a new one, which has
 * to be named by whoever approves. Errors: `person_required`, `approval_not_found`, `approval_decided` for what does not
 * wait for a decision, `too_many_approvals` where there is no room for another look, the failure that the write would meet now;
 * those of `requireNamespace`.
 */
export async function lookAtApproval(ctx: ApprovalContext, path: ApprovalPath): Promise<ApprovalPage> {
  requirePerson(ctx.caller, path.namespaceSlug);
  const namespace = await requireNamespace(ctx, path.namespaceSlug);
  const record = await requireApproval(ctx, namespace.id, path.approvalId);
  const { approvals } = ctx.query;
  if (approvals.stateOf(record) !== "pending") throw new AppError("approval_decided");
  const looked = await lookNow(ctx, record, namespace.slug);
  const change = looked.same ? { lookedAt: ctx.clock.now() } : await newLook(ctx.query, record, {
    affectedRows: looked.affectedRows,
    cascadedRows: cascadedRows(looked.held.effects),
    text: heldText(looked.held),
  });
  if (change === null) throw new AppError("too_many_approvals");
  const moved = await approvals.move(record, "pending", change);
  // Somebody has decided meanwhile, or looked too: what they have made of it is what is shown.
  return await approvalPage(ctx, moved ?? await requireApproval(ctx, namespace.id, record.id));
}

async function lookNow(ctx: ApprovalContext, record: ApprovalRecord, namespaceSlug: string): Promise<Looked> {
  const held = await heldCallOf(ctx.query, record);
  if (held.merge) return await lookAtMerge(ctx, record, { ...held, merge: held.merge });
  if (held.restore) return await lookAtRestore(ctx, record, { ...held, restore: held.restore });
  const { query, caller } = ctx;
  if (held.migrations) return await lookAtMigrations(ctx, record, namespaceSlug, held);
  const target = await targetOf(ctx, record, namespaceSlug);
  const statements = { ...query, target, tokenId: callerId(caller) };
  // Only digests with the same salt can be compared.
  const salt = held.footprint?.salt;
  const { affectedRows, ...preview } = await effectNow(statements, record, {
    held,
    ...(salt === undefined ? {} : { salt }),
  });
  const same = JSON.stringify([preview.effects, preview.footprint]) ===
    JSON.stringify([held.effects, held.footprint ?? null]);
  return { held: { ...held, ...preview }, affectedRows, same };
}

/** Errors: those of the files, as `migrationsNow` has them. */
async function lookAtMigrations(
  ctx: ApprovalContext,
  record: ApprovalRecord,
  namespaceSlug: string,
  before: HeldCall,
): Promise<Looked> {
  const target = await targetOf(ctx, record, namespaceSlug);
  const files = { ...ctx.query, target, tokenId: callerId(ctx.caller) };
  const { held, affectedRows } = await migrationsNow(files, record, before);
  const same = JSON.stringify([held.effects, held.migrations]) ===
    JSON.stringify([before.effects, before.migrations]);
  return { held, affectedRows, same };
}

/** Errors: `branch_not_found`, `merge_refused` with the reason where it cannot be merged any more. */
async function lookAtMerge(
  { control, tenants, clock, caller }: ApprovalContext,
  { namespaceId, databaseId }: ApprovalRecord,
  held: HeldCall & { readonly merge: HeldMerge },
): Promise<Looked> {
  const { ref, mode, onConflict } = held.merge;
  const branch = await control.branches.current({ namespaceId, trunkId: databaseId, ref });
  if (branch === null) throw new AppError("branch_not_found");
  const { outcome, report, reason, failure } = await tenants.branches.merge({ databaseId, namespaceId }, {
    branchId: branch.id,
    mode,
    onConflict,
    rowForm: held.rowForm,
    dryRun: true,
    expects: null,
    // A dry run takes none and leaves no row.
    snapshot: "",
    auditId: newId("evt", clock.now()),
    log: identifyWork({ clock, caller }, {
      target: { namespaceId, databaseId },
      operation: "merge",
      what: `dry run: ${mode} of branch ${ref}`,
    }),
  });
  if (outcome === "refused" || failure !== null) {
    throw new AppError("merge_refused", reason === null ? {} : { message: reason });
  }
  const merge = { ...held.merge, branchId: branch.id, effect: effectOf(report), report };
  const same = branch.id === held.merge.branchId &&
    mergeEffectOf(report) === mergeEffectOf(held.merge.report);
  return { held: { ...held, merge }, affectedRows: mode === "schema" ? null : report.rowsWritten, same };
}

/** Errors: `snapshot_not_found`, `snapshot_corrupt`. */
async function lookAtRestore(
  { tenants }: ApprovalContext,
  record: ApprovalRecord,
  held: HeldCall & { readonly restore: HeldRestore },
): Promise<Looked> {
  const { snapshot, effect: before } = held.restore;
  const effect = await tenants.open(record).compareSnapshot(snapshot);
  const same = effect?.digest === before?.digest;
  return { held: { ...held, restore: { snapshot, effect } }, affectedRows: effect?.rows ?? null, same };
}
