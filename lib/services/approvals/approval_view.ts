// An approval as the API shows it: to whoever asked for it, and in short to whoever decides.
import { splitAddress } from "../../access/resolve_target.ts";
import type { Approvals, ApprovalState } from "../../control/approvals.ts";
import { isoTime } from "../../core/clock.ts";
import type { ApprovalOutcome, ApprovalRecord, RuleHit } from "../../store/write_records.ts";

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

/** An approval for people, without the call that waits. */
export interface ApprovalSummary extends ApprovalView {
  /** As it stands in a path: `<slug>@<ref>` for a branch. */
  readonly databaseSlug: string;
  /** The database's own slug. */
  readonly database: string;
  readonly branchRef: string;
  /** The API token that may redeem it. */
  readonly requestedBy: string;
  readonly tokenId: string;
  /** Null where the token has been revoked. */
  readonly tokenName: string | null;
  /** `query`, `batch`, `apply`, `merge`, `restore` or `migrate`. */
  readonly operation: string;
  /** Rows that it would change, with triggers and cascades; null where that is not known. */
  readonly affectedRows: number | null;
  /** How many of them triggers and cascades add; null where that is not known. */
  readonly cascadedRows: number | null;
  /** By how many rows that may differ when it runs. */
  readonly tolerance: number;
  /** How often what it would do was looked at again: whoever approves says which look. */
  readonly look: number;
  readonly lookedAt: string;
  readonly askedAt: string;
  /** Id of the member who has decided, or `operator`; null: nobody, or a rule. */
  readonly decidedBy: string | null;
  readonly decidedByName: string | null;
  /** Whoever approved it wants a snapshot before it runs. */
  readonly snapshotFirst: boolean;
  readonly outcome: OutcomeView | null;
}

/** What became of it, with times as the API shows them. */
export type OutcomeView = OutcomeAt<ApprovalOutcome>;

type OutcomeAt<Outcome> = Outcome extends unknown
  ? Omit<Outcome, "at" | "undone"> & { readonly at: string; readonly undone: UndoneView | null }
  : never;

/** That it was taken back: when, by whom, and how that is undone again. */
interface UndoneView {
  readonly at: string;
  readonly by: string;
  readonly byName: string;
  readonly snapshot: string | null;
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

/** What a summary says beside the record. */
export interface SummaryNames {
  /** Of the database, in a path. */
  readonly databaseSlug: string;
  /** Of the token that asked, as far as there is one. */
  readonly tokenName: string | null;
}

/** An approval in a list for people. */
export function approvalSummary(
  approvals: Approvals,
  record: ApprovalRecord,
  { databaseSlug, tokenName }: SummaryNames,
): ApprovalSummary {
  const { branchRef, requestedBy, outcome } = record;
  return {
    ...approvalView(approvals, record),
    databaseSlug,
    database: splitAddress(databaseSlug).slug,
    branchRef,
    requestedBy,
    tokenId: requestedBy,
    tokenName,
    operation: record.operation ?? "query",
    affectedRows: record.affectedRows,
    cascadedRows: record.cascadedRows ?? null,
    tolerance: record.tolerance,
    look: record.look ?? 0,
    lookedAt: isoTime(record.lookedAt ?? record.createdAt),
    askedAt: isoTime(record.createdAt),
    decidedBy: record.decidedBy?.id ?? null,
    decidedByName: record.decidedBy?.name ?? null,
    snapshotFirst: record.snapshotFirst ?? false,
    outcome: outcome ? outcomeView(outcome) : null,
  };
}

/** An outcome with its times as the API shows them. */
export function outcomeView(outcome: ApprovalOutcome): OutcomeView {
  const undone = outcome.kind === "ran" ? outcome.undone : undefined;
  return {
    ...outcome,
    at: isoTime(outcome.at),
    undone: undone === undefined
      ? null
      : { at: isoTime(undone.at), by: undone.by.id, byName: undone.by.name, snapshot: undone.snapshot },
  };
}
