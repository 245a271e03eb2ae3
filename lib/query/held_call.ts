// A call as text, to be run later: behind a proposal's execution token, or after a person's decision.
import type { ReplayScope } from "../control/replays.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";
import type { MergeReport, RestoreEffect } from "../sql/service/branch_report.ts";
import type { Footprint } from "../engine/footprint/footprint.ts";
import type { ParamSets } from "../sql/words/param_sets.ts";
import { PLAIN_ROWS, type RowForm, TYPED_ROWS } from "../sql/words/row_form.ts";
import type { HeldMigrations } from "./migration_ask.ts";
import type { QueryCall, QueryStatement } from "./query_call.ts";

/** A call that waits. */
export interface HeldCall {
  readonly batch: boolean;
  readonly statements: readonly QueryStatement[];
  /** As a call has them; absent: each statement runs once. */
  readonly paramSets?: ParamSets;
  readonly atomic: boolean;
  readonly rowForm: RowForm;
  readonly snapshots: boolean;
  /** The most rows that the call may change, as its caller asked; absent: any number. */
  readonly maxAffected?: number;
  /** The effect of each statement when the call was held; empty where it is not known. */
  readonly effects: readonly StatementEffect[];
  /** Rows that its preview has read; absent where that is not known. */
  readonly rowsRead?: number;
  /**
   * The changes of rows that the call has to make. Absent: the call was held before there were footprints, so it needs
   * another preview.
   */
  readonly footprint?: Footprint | null;
  /** The key under which its caller may send it again: the run notes it, so that the call runs once. Absent: it had none. */
  readonly key?: ReplayScope;
  /** The step of a plan that it was: its run answers that step too. Absent: it was none. */
  readonly plan?: HeldStep;
  /** What an approval of the call covers, in the form of `approved` of a call. */
  readonly covers: readonly string[];
  /** Set where the call is a merge of a branch. */
  readonly merge?: HeldMerge;
  /** Set where the call is a restore in place. */
  readonly restore?: HeldRestore;
  /** Set where that restore puts an imported file in place. */
  readonly imported?: HeldImport;
  /** Set where the statements are those of migration files. */
  readonly migrations?: HeldMigrations;
}

/** The step of a plan that a held call was. */
export interface HeldStep extends ReplayScope {
  /** SHA-256, hex, of the file that came with it, which its content does not tell. Absent: none did. */
  readonly fileDigest?: string;
}

/** A restore, and its effect when it was held; null: the present state could not be read. */
export interface HeldRestore {
  readonly snapshot: string;
  readonly effect: RestoreEffect | null;
}

/** What was built of a file, and what could not be. */
export interface HeldImport {
  readonly tables: number;
  readonly rows: number;
  readonly notKept: readonly string[];
}

/** The result of a call's preview. */
export type CallPreview = Pick<HeldCall, "effects" | "rowsRead" | "migrations"> & {
  readonly footprint: Footprint | null;
};

/** A merge, and its effect when it was held. */
export interface HeldMerge {
  readonly ref: string;
  readonly branchId: string;
  readonly mode: "schema" | "data";
  readonly onConflict: "abort" | "theirs" | "ours";
  /** `effectOf` its report. */
  readonly effect: string;
  readonly report: MergeReport;
}

/** Writes the text of a call of statements. */
export function writeHeldCall(
  call: QueryCall,
  { effects, footprint, rowsRead, migrations }: CallPreview,
  covers: readonly string[],
): string {
  const held: HeldCall = {
    batch: call.batch,
    statements: call.statements,
    ...(call.paramSets === null ? {} : { paramSets: call.paramSets }),
    atomic: call.atomic,
    rowForm: call.rowForm,
    snapshots: call.snapshots,
    ...(call.maxAffected === null ? {} : { maxAffected: call.maxAffected }),
    ...(call.replay?.idempotency ? { key: call.replay.idempotency } : {}),
    ...(call.replay?.plan ? { plan: call.replay.plan } : {}),
    effects,
    ...(rowsRead === undefined ? {} : { rowsRead }),
    footprint,
    covers,
    ...(migrations === undefined ? {} : { migrations }),
  };
  return heldText(held);
}

/** Makes the same call with the results of another preview. */
export function rewriteHeldCall(held: HeldCall, preview: CallPreview): string {
  return heldText({ ...held, ...preview });
}

/** The step of a plan that it was, if any. */
interface HeldAsStep {
  readonly plan: HeldStep | undefined;
}

/** The parts of a call of which a merge and a restore have none. */
const NO_STATEMENTS = { batch: false, statements: [], atomic: true, snapshots: true, effects: [] } as const;

/** Writes the text of a merge. */
export function writeHeldMerge(
  merge: HeldMerge,
  { covers, rowForm, plan }: Pick<HeldCall, "covers" | "rowForm"> & HeldAsStep,
): string {
  return heldText({ ...NO_STATEMENTS, rowForm, covers, ...(plan === undefined ? {} : { plan }), merge });
}

/** Writes the text of a restore in place, of a snapshot or of what was built of a file. */
export function writeHeldRestore(
  { restore, imported, plan }: HeldAsStep & {
    readonly restore: HeldRestore;
    readonly imported: HeldImport | undefined;
  },
  covers: readonly string[],
): string {
  return heldText({
    ...NO_STATEMENTS,
    rowForm: PLAIN_ROWS,
    covers,
    ...(plan === undefined ? {} : { plan }),
    restore,
    ...(imported === undefined ? {} : { imported }),
  });
}

/** Writes a held call. The form is older than `RowForm`, so `integersAsStrings` is a member of its own. */
export function heldText({ rowForm, ...held }: HeldCall): string {
  return JSON.stringify({ ...held, ...rowForm });
}

/** Reads a text of `heldText`. Guarantee: nothing else is ever held. */
export function readHeldCall(text: string): HeldCall {
  const { integersAsStrings, typed, ...held }: Omit<HeldCall, "rowForm"> & RowForm = JSON.parse(text);
  return { ...held, rowForm: typed ? TYPED_ROWS : { integersAsStrings } };
}

/** Adds up the rows that the statements change, triggers and cascades included; null where no effect is known. */
export function affectedRows(effects: readonly StatementEffect[]): number | null {
  if (effects.length === 0) return null;
  return effects.reduce((rows, { ownRows, cascadedRows }) => rows + (ownRows ?? 0) + cascadedRows, 0);
}

/** Adds up the rows that triggers and foreign keys change; null as above. */
export function cascadedRows(effects: readonly StatementEffect[]): number | null {
  if (effects.length === 0) return null;
  return effects.reduce((rows, { cascadedRows }) => rows + cascadedRows, 0);
}
