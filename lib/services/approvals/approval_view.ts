// An approval as the API shows it: to whoever asked for it, and with what it would run to whoever decides.
import type { Approvals, ApprovalState } from "../../control/approvals.ts";
import { isoTime } from "../../core/clock.ts";
import type { HeldCalls } from "../../control/held_calls.ts";
import { AppError } from "../../core/errors.ts";
import { type HeldCall, type HeldMerge, type HeldRestore, readHeldCall } from "../../query/held_call.ts";
import type { ApprovalRecord, RuleHit } from "../../store/write_records.ts";

/** An approval, for whoever asked for it. */
export interface ApprovalView {
  readonly id: string;
  readonly state: ApprovalState;
  readonly hits: readonly RuleHit[];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly decidedAt: string | null;
  readonly reason: string | null;
}

/** What a person sees before deciding. */
export interface ApprovalDetail extends ApprovalView {
  readonly databaseSlug: string;
  readonly requestedBy: string;
  readonly affectedRows: number | null;
  /** How often what it would do was looked at again: whoever approves says which look. */
  readonly look: number;
  readonly statements: HeldCall["statements"];
  readonly effects: HeldCall["effects"];
  /** Null where something else waits. */
  readonly restore: HeldRestore | null;
  /** Null where something else waits. */
  readonly merge: (Pick<HeldMerge, "mode" | "onConflict" | "report"> & { readonly branchRef: string }) | null;
}

/** An approval, for whoever asked for it. */
export function approvalView(approvals: Approvals, record: ApprovalRecord): ApprovalView {
  const { id, hits, createdAt, expiresAt, decidedAt, reason } = record;
  return {
    id,
    state: approvals.stateOf(record),
    hits,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    decidedAt: decidedAt === null ? null : isoTime(decidedAt),
    reason,
  };
}

/** An approval, for a person who decides about it. */
export function approvalDetail(approvals: Approvals, record: ApprovalRecord, held: HeldCall): ApprovalDetail {
  return {
    ...approvalView(approvals, record),
    databaseSlug: record.databaseSlug,
    requestedBy: record.requestedBy,
    affectedRows: record.affectedRows,
    look: record.look ?? 0,
    statements: held.statements,
    effects: held.effects,
    restore: held.restore ?? null,
    merge: held.merge === undefined ? null : mergePart(held.merge),
  };
}

function mergePart({ ref, mode, onConflict, report }: HeldMerge): ApprovalDetail["merge"] {
  return { branchRef: ref, mode, onConflict, report };
}

/** The call that waits behind an approval. Errors: `approval_not_found` when its text is gone. */
export async function heldCallOf(
  ctx: { readonly held: HeldCalls },
  record: ApprovalRecord,
): Promise<HeldCall> {
  const text = await ctx.held.read(record.heldId ?? record.id, record.pieces);
  if (text === null) throw new AppError("approval_not_found");
  return readHeldCall(text);
}
