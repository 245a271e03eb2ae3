// A call as text, to be run later as it is now: behind a proposal's token, or while a person decides about it.
import type { StatementEffect } from "../engine/statement_effect.ts";
import type { MergeReport, RestoreEffect } from "../sql/branch_report.ts";
import type { Footprint } from "../engine/footprint/footprint.ts";
import { PLAIN_ROWS, type RowForm } from "../sql/row_form.ts";
import type { QueryCall, QueryStatement } from "./query_call.ts";

/** A call that waits. */
export interface HeldCall {
  readonly batch: boolean;
  readonly statements: readonly QueryStatement[];
  readonly atomic: boolean;
  readonly rowForm: RowForm;
  readonly snapshots: boolean;
  /** Rows that it may change at most by the wish of whoever asked; absent: any number. */
  readonly maxAffected?: number;
  /** What it would have done when it was held, a statement each; empty where that is not known. */
  readonly effects: readonly StatementEffect[];
  /** What it has to do to each row when it runs. Absent: held before there were footprints, so that it needs another preview. */
  readonly footprint?: Footprint | null;
  /** What an approval of it is good for, as `approved` of a call has it. */
  readonly covers: readonly string[];
  /** Set where it is no statements but a merge of a branch. */
  readonly merge?: HeldMerge;
  /** Set where it is a restore in place. */
  readonly restore?: HeldRestore;
}

/** A restore, and what it would have done when it was held; null: the state before could not be read. */
export interface HeldRestore {
  readonly snapshot: string;
  readonly effect: RestoreEffect | null;
}

/** What a preview of a call has shown. */
export type CallPreview = Pick<HeldCall, "effects"> & { readonly footprint: Footprint | null };

/** A merge, and what it would have done when it was held. */
export interface HeldMerge {
  readonly ref: string;
  readonly branchId: string;
  readonly mode: "schema" | "data";
  readonly onConflict: "abort" | "theirs" | "ours";
  /** `effectOf` its report. */
  readonly effect: string;
  readonly report: MergeReport;
}

/** The text of a call of statements. */
export function writeHeldCall(
  call: QueryCall,
  { effects, footprint }: CallPreview,
  covers: readonly string[],
): string {
  const held: HeldCall = {
    batch: call.batch,
    statements: call.statements,
    atomic: call.atomic,
    rowForm: call.rowForm,
    snapshots: call.snapshots,
    ...(call.maxAffected === null ? {} : { maxAffected: call.maxAffected }),
    effects,
    footprint,
    covers,
  };
  return heldText(held);
}

/** The same call after another preview. */
export function rewriteHeldCall(held: HeldCall, { effects, footprint }: CallPreview): string {
  return heldText({ ...held, effects, footprint });
}

/** The text of a merge. */
export function writeHeldMerge(
  merge: HeldMerge,
  { covers, rowForm }: Pick<HeldCall, "covers" | "rowForm">,
): string {
  const held: HeldCall = {
    batch: false,
    statements: [],
    atomic: true,
    rowForm,
    snapshots: true,
    effects: [],
    covers,
    merge,
  };
  return heldText(held);
}

/** The text of a restore in place. */
export function writeHeldRestore(restore: HeldRestore, covers: readonly string[]): string {
  const held: HeldCall = {
    batch: false,
    statements: [],
    atomic: true,
    rowForm: PLAIN_ROWS,
    snapshots: true,
    effects: [],
    covers,
    restore,
  };
  return heldText(held);
}

/** The text by which a call is held. Its form is older than `RowForm`, whose member stands in it by itself. */
export function heldText({ rowForm, ...held }: HeldCall): string {
  return JSON.stringify({ ...held, ...rowForm });
}

/** The call of a text of `heldText`: nothing else is ever held. */
export function readHeldCall(text: string): HeldCall {
  const { integersAsStrings, ...held }: Omit<HeldCall, "rowForm"> & RowForm = JSON.parse(text);
  return { ...held, rowForm: { integersAsStrings } };
}

/** All rows that the statements change, triggers and cascades included; null where it is not known. */
export function affectedRows(effects: readonly StatementEffect[]): number | null {
  if (effects.length === 0) return null;
  return effects.reduce((rows, { ownRows, cascadedRows }) => rows + (ownRows ?? 0) + cascadedRows, 0);
}
