// An approval with the call that waits, for whoever decides: alone, and in a list as far as there is room.
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
import type { QueryContext } from "../../query/query_call.ts";
import { migrationDigest, readMigration } from "../../sql/service/migration_text.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import type { ApprovalRecord } from "../../store/write_records.ts";
import type { ApprovalSummary } from "./approval_view.ts";

/** Parameter sets that a person is shown. */
const SHOWN_SETS = 100;

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
    whole: false,
    statements: [],
    paramSets: null,
    effects: [],
    effect: { affected, cascaded: cascadedRows, rowsRead: null },
    restore: null,
    migrations: null,
    merge: null,
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
