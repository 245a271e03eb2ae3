// The messages between the service and an engine child. A frame is a 4-byte big-endian length and that many bytes of
// UTF-8: JSON towards the child; towards the service JSON, `HEAD_END`, then the row texts end to end.
import type { RowForm } from "../../../sql/row_form.ts";
import type { EngineFacts } from "../../../sql/statement_facts.ts";
import type { SqlParameter } from "../../../sql/sql_value.ts";
import type { TableAs } from "../../../sql/table_as.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { Level } from "../../../engine/guard.ts";
import type { NamedTable } from "../../../engine/list_tables.ts";
import type { ReplayKeys } from "../../../engine/replay_keys.ts";
import type { StatementEffect } from "../../../engine/statement_effect.ts";
import type { TenantStatement } from "../../tenant_store.ts";
import type { Footprint, FootprintAsk } from "../../../engine/footprint/footprint.ts";
import type { AffectedBound } from "../../call_records.ts";
import type { LogPruning } from "../../../sql/log_pruning.ts";
import type { LogValues } from "../../log_columns.ts";
import type { SnapshotRequest, WireLogTable, WireRecord } from "./wire_log.ts";

/** A statement in a frame. */
export type WireStatement = readonly [
  sql: string,
  params: readonly SqlParameter[],
  level: Level,
  more?: WireStatementMore,
];

/** What else a statement of the store has. */
export type WireStatementMore = Pick<TenantStatement, "replacing" | "schemaRows" | "after">;

/** A call in a frame. */
export interface WireCall {
  readonly statements: readonly WireStatement[];
  readonly level: Level;
  readonly atomic: boolean;
  readonly schemaVersion: number;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly rowForm: RowForm;
  readonly foreignKeysOff: boolean;
  /** Absent for reads, whose log rows the service collects and sends later. The child fills in the figures. */
  readonly log?: LogValues;
  readonly failsWith?: string;
  readonly replay?: ReplayKeys;
  /** File name of the snapshot to take first; such a call travels alone. */
  readonly snapshot?: string;
  /** Such a call travels alone. */
  readonly dryRun?: true;
  readonly affected?: AffectedBound;
  /** Such a call travels alone. */
  readonly footprint?: FootprintAsk;
  readonly auditId?: string;
  readonly auditTables?: string;
}

/** `InspectedStatement` of the store, with what there is no parser for in the child. */
export interface WireInspected {
  readonly sql: string;
  readonly changesSchema: boolean;
  readonly tableAs: TableAs | null;
}

/** A frame to a child. */
export type Request =
  | { readonly op: "read"; readonly db: string; readonly frame: number; readonly calls: readonly WireCall[] }
  | {
    readonly op: "write";
    readonly db: string;
    readonly frame: number;
    readonly calls: readonly WireCall[];
    readonly logRows: readonly WireLogTable[];
  }
  | {
    readonly op: "log";
    readonly db: string;
    readonly logRows: readonly WireLogTable[];
    readonly prune: LogPruning | null;
  }
  | {
    readonly op: "inspect";
    readonly db: string;
    readonly statements: readonly WireInspected[];
    readonly foreignKeysOff: boolean;
  }
  | { readonly op: "schema"; readonly db: string }
  | { readonly op: "create"; readonly db: string }
  /** The service's own statements. */
  | {
    readonly op: "internal";
    readonly db: string;
    readonly statements: readonly (readonly [string, readonly SqlParameter[]])[];
  }
  | { readonly op: "snapshot"; readonly db: string; readonly name: string }
  | SnapshotRequest
  | {
    readonly op: "copy";
    readonly db: string;
    readonly snapshot: string | null;
    readonly to: string;
    readonly record: WireRecord | null;
  }
  | { readonly op: "find_replay"; readonly db: string; readonly replay: ReplayKeys }
  | { readonly op: "note_replay"; readonly db: string; readonly replay: ReplayKeys }
  | { readonly op: "has_log"; readonly db: string; readonly ids: readonly string[] }
  /** Folds the write-ahead log into the file if it is long, before a copy. */
  | { readonly op: "fold_log"; readonly db: string }
  /** Stores the present state as a branch's ancestor. */
  | { readonly op: "keep_ancestor"; readonly db: string }
  | { readonly op: "diff"; readonly db: string; readonly rowForm: RowForm }
  | MergeRequest
  | { readonly op: "close"; readonly db: string }
  /** Has no reply. */
  | { readonly op: "sweep" };

/** Brings a branch into `db`. */
export interface MergeRequest extends WireRecord {
  readonly op: "merge";
  readonly db: string;
  readonly branch: string;
  readonly mode: "schema" | "data";
  readonly onConflict: "abort" | "theirs" | "ours";
  readonly dryRun: boolean;
  /** `mergeEffectOf` an earlier dry run, which the merge has to match; null: any effect is accepted. */
  readonly expects: string | null;
  readonly rowForm: RowForm;
  /** File name of the snapshot to take first; deleted if nothing is committed. */
  readonly snapshot: string;
}

/** How a merge ended; the report is the frame's text. */
export interface WireMerge {
  readonly outcome: "merged" | "conflict" | "refused" | "failed" | "changed";
  readonly failure: EngineFailure | null;
  /** Of one that was refused. */
  readonly reason: string | null;
  readonly snapshotTaken: boolean;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly statementsRun: number;
  readonly ms: number;
}

/** Per statement: length of its row text, rows read, rows written. */
export type WireResult = readonly [textLength: number, rowsRead: number, rowsWritten: number];

/** The outcome of a call in a frame. */
export type WireOutcome =
  | {
    readonly k: "ok";
    readonly r: readonly WireResult[];
    readonly ms: number;
    readonly e?: readonly StatementEffect[];
    /** Of a dry run that was asked for it. */
    readonly p?: Footprint;
  }
  | {
    readonly k: "failed";
    readonly r: readonly WireResult[];
    readonly at: number;
    readonly f: EngineFailure;
    readonly ms: number;
    /** Rows read and written by the whole call, committed or not. */
    readonly w: readonly [read: number, written: number];
    /** Of a dry run: of the statements before the failure. */
    readonly e?: readonly StatementEffect[];
    readonly p?: Footprint;
    /** The transaction itself failed, so that no log row could be written in it. */
    readonly unlogged?: true;
  }
  | { readonly k: "stale"; readonly v: number }
  | WireReplayed;

/** The call ran before: its stored answer (`length` characters of the frame's text), or that another call has its key. */
export type WireReplayed =
  | { readonly k: "replayed"; readonly length: number; readonly matched: readonly number[] }
  | { readonly k: "mismatch" };

/** Not in any JSON, and no line break: standard output would be written once for each line. */
export const HEAD_END = "\t";

/** Head of a frame towards the service. `committed` follows the `outcomes` of a write group. */
export type Reply =
  | { readonly t: "outcomes"; readonly o: readonly WireOutcome[] }
  | { readonly t: "committed" }
  | {
    readonly t: "inspected";
    readonly v: number;
    readonly facts: readonly EngineFacts[];
    readonly f: EngineFailure | null;
  }
  | { readonly t: "schema"; readonly v: number; readonly tables: readonly NamedTable[] }
  | { readonly t: "replay"; readonly found: WireReplayed | null }
  | { readonly t: "ids"; readonly ids: readonly string[] }
  /** The frame's text is the comparison as JSON. */
  | { readonly t: "compared"; readonly rowsRead: number }
  | { readonly t: "merged"; readonly merge: WireMerge }
  | { readonly t: "done" }
  /** `setAside`: the name of the damaged file that was there; null where a snapshot has what was there, or nothing was. */
  | { readonly t: "restored"; readonly setAside: string | null; readonly undo: boolean }
  /** The restore would do something else than it was to do. */
  | { readonly t: "changed" }
  /** The frame's text is what a restore would do as JSON; null: the present state cannot be read. */
  | { readonly t: "restore_effect" }
  /** The snapshot that the request names is. */
  | { readonly t: "damaged" }
  /** What the request names is not there. */
  | { readonly t: "missing" }
  | { readonly t: "failed"; readonly f: EngineFailure };

/** Head of the progress file: resident bytes, processor time in ms (64-bit floats), number of the report (32-bit). */
export const PROGRESS_HEAD_BYTES = 24;
/** A record behind it: frame number, call, statement, each an unsigned 32-bit integer. */
export const PROGRESS_RECORD_BYTES = 12;
/** A progress file is never longer, and has its room before the child starts: a full disk keeps no statement from running. */
export const PROGRESS_FILE_BYTES = PROGRESS_HEAD_BYTES + 340 * PROGRESS_RECORD_BYTES;
/** Milliseconds after which a child answers what it has and hands the rest of a frame back unstarted. */
export const FRAME_BUDGET_MS = 40;
