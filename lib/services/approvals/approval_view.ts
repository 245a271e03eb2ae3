// An approval as the API shows it: to whoever asked for it, and with what it would run to whoever decides.
import { splitAddress } from "../../access/resolve_target.ts";
import type { Approvals, ApprovalState } from "../../control/approvals.ts";
import { isoTime } from "../../core/clock.ts";
import type { HeldCalls } from "../../control/held_calls.ts";
import { AppError } from "../../core/errors.ts";
import type { StatementEffect } from "../../engine/statement_effect.ts";
import {
  cascadedRows,
  type HeldCall,
  type HeldMerge,
  type HeldRestore,
  readHeldCall,
} from "../../query/held_call.ts";
import { migrationDigest, readMigration } from "../../sql/migration_text.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { ParamSets } from "../../sql/param_sets.ts";
import type { ApprovalOutcome, ApprovalRecord, RuleHit } from "../../store/write_records.ts";

/** Parameter sets that a person is shown. */
const SHOWN_SETS = 100;

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

/** What a person sees before deciding. */
export interface ApprovalDetail extends ApprovalSummary {
  /** False: the call that waits is too long for a list, and all behind this says nothing of it. */
  readonly whole: boolean;
  readonly statements: HeldCall["statements"];
  /** How many parameter sets the statement runs with, and the first of them; null where each statement runs once. */
  readonly paramSets: { readonly count: number; readonly first: ParamSets } | null;
  /** Of each statement; empty where they are not known. */
  readonly effects: readonly StatementEffect[];
  readonly effect: EffectFigures;
  /** Null where something else waits. */
  readonly restore: HeldRestore | null;
  /** Migration files whose statements these are, in their order; null where something else waits. */
  readonly migrations: readonly FileView[] | null;
  /** Null where something else waits. */
  readonly merge: (Pick<HeldMerge, "mode" | "onConflict" | "report"> & { readonly branchRef: string }) | null;
}

/** A migration file that waits. */
export interface FileView {
  readonly name: string;
  readonly sha256: string;
  /** How many statements it has. */
  readonly statements: number;
}

/** Rows of all statements together; null where a number is not known. */
export interface EffectFigures {
  /** The statements' own rows. */
  readonly affected: number | null;
  /** What triggers and foreign keys add. */
  readonly cascaded: number | null;
  readonly rowsRead: number | null;
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
    outcome: outcome === undefined ? null : outcomeView(outcome),
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

/** An approval with the call that waits, for a person who decides about it; `facts`: who reads long files. */
export async function approvalDetail(
  { facts }: Pick<QueryContext, "facts">,
  { summary, held }: { readonly summary: ApprovalSummary; readonly held: HeldCall },
): Promise<ApprovalDetail> {
  return {
    ...summary,
    whole: true,
    statements: held.statements,
    paramSets: shownSets(held),
    effects: held.effects,
    effect: figuresOf(summary, held),
    restore: held.restore ?? null,
    migrations: held.migrations ? await fileViews(facts, held.migrations.files) : null,
    merge: held.merge === undefined ? null : mergePart(held.merge),
  };
}

/** The same of one whose call is too long for a list. */
export function withoutCall(summary: ApprovalSummary): ApprovalDetail {
  const { affectedRows, cascadedRows } = summary;
  const affected = affectedRows === null ? null : affectedRows - (cascadedRows ?? 0);
  return {
    ...summary,
    ...{
      whole: false,
      statements: [],
      paramSets: null,
      effects: [],
      restore: null,
      migrations: null,
      merge: null,
    },
    effect: { affected, cascaded: cascadedRows, rowsRead: null },
  };
}

async function fileViews(
  facts: QueryContext["facts"],
  files: readonly { readonly name: string; readonly sql: string }[],
): Promise<FileView[]> {
  await facts.readAhead(files.map(({ sql }) => sql), "migration");
  return files.map(({ name, sql }) => {
    const text = facts.ahead("migration", sql) ?? readMigration(sql);
    return { name, sha256: migrationDigest(sql), statements: text.ok ? text.statements.length : 0 };
  });
}

function figuresOf({ affectedRows }: ApprovalSummary, held: HeldCall): EffectFigures {
  const rowsRead = held.rowsRead ?? null;
  const cascaded = cascadedRows(held.effects);
  if (cascaded === null) return { affected: affectedRows, cascaded, rowsRead };
  // The number of rows does not describe a change of the schema.
  const affected = held.effects.some(({ ownRows }) => ownRows === null)
    ? null
    : held.effects.reduce((sum, { ownRows }) => sum + (ownRows ?? 0), 0);
  return { affected, cascaded, rowsRead };
}

function shownSets({ paramSets }: HeldCall): ApprovalDetail["paramSets"] {
  return paramSets ? { count: paramSets.length, first: paramSets.slice(0, SHOWN_SETS) } : null;
}

function mergePart({ ref, mode, onConflict, report }: HeldMerge): ApprovalDetail["merge"] {
  return { branchRef: ref, mode, onConflict, report };
}

/** The call that waits behind an approval. Errors: `approval_not_found` when its text is gone. */
export async function heldCallOf(
  ctx: { readonly held: HeldCalls },
  record: ApprovalRecord,
): Promise<HeldCall> {
  const text = await heldTextOf(ctx, record);
  if (text === null) throw new AppError("approval_not_found");
  return readHeldCall(text);
}

/** The text of that call; null when it is gone. */
export function heldTextOf(
  ctx: { readonly held: HeldCalls },
  record: ApprovalRecord,
): Promise<string | null> {
  return ctx.held.read(record.heldId ?? record.id, record.pieces);
}
