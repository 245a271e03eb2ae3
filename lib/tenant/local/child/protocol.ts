// The messages between the service and an engine child. A frame is a 4-byte big-endian length and that many bytes of
// UTF-8: JSON towards the child; towards the service JSON, `HEAD_END`, then the row texts end to end.
import type { CommitChange } from "../../../sql/service/change_rows.ts";
import type { RowForm } from "../../../sql/words/row_form.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { InspectedStatement } from "../../../engine/compile_statement.ts";
import type { NamedTable } from "../../../engine/list_tables.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { LogPruning } from "../../../sql/service/log_pruning.ts";
import type { LogValue, LogValues } from "../../log_columns.ts";
import type { EarlyCopy } from "./early_copy.ts";
import type { SentCall, SentRead, WireOutcome, WireReplayed } from "./wire_call.ts";
import type { Inspected } from "./wire_inspected.ts";

/** A frame to a child. */
export type Request =
  | { readonly op: "read"; readonly db: string; readonly frame: number; readonly calls: readonly SentRead[] }
  | {
    readonly op: "write";
    readonly db: string;
    readonly frame: number;
    readonly calls: readonly SentCall[];
    readonly logRows: readonly WireLogTable[];
  }
  | {
    readonly op: "log";
    readonly db: string;
    readonly logRows: readonly WireLogTable[];
    readonly prune: LogPruning | null;
    /** The service has the file open, and reads it; nobody waits for these rows. */
    readonly held: boolean;
    /** Rows that find the write-ahead log empty are folded into the file, once no `more` of them follow. */
    readonly folds: boolean;
    readonly more: boolean;
  }
  | {
    readonly op: "inspect";
    readonly db: string;
    readonly statements: readonly InspectedStatement[];
    readonly foreignKeysOff: boolean;
    readonly columns?: true;
  }
  | { readonly op: "schema"; readonly db: string }
  | { readonly op: "create"; readonly db: string }
  /** The service's own statements. */
  | {
    readonly op: "internal";
    readonly db: string;
    readonly statements: readonly (readonly [string, readonly SqlParameter[]])[];
  }
  | { readonly op: "snapshot"; readonly db: string; readonly name: string; readonly early?: EarlyCopy }
  | SnapshotRequest
  /** Copies the files of the present state, which needs the write slot, or of a snapshot. */
  | {
    readonly op: "copy";
    readonly db: string;
    readonly snapshot: string | null;
    readonly to: string;
    readonly early?: EarlyCopy;
  }
  /** Makes such a copy a database of its own, without the history of the other one. `ms`: what the copy took. */
  | {
    readonly op: "begin_history";
    readonly db: string;
    readonly record: WireRecord | null;
    readonly ms: number;
    readonly check: boolean;
  }
  /** Copies the present state into the folder of a transfer. */
  | {
    readonly op: "copy_out";
    readonly db: string;
    readonly transfer: string;
    readonly early?: EarlyCopy;
  }
  | { readonly op: "find_replay"; readonly db: string; readonly replay: ReplayKeys }
  | { readonly op: "note_replay"; readonly db: string; readonly replay: ReplayKeys }
  | { readonly op: "has_log"; readonly db: string; readonly ids: readonly string[] }
  /** Folds the write-ahead log into the file if it is long, before a copy. */
  | { readonly op: "fold_log"; readonly db: string }
  /** Folds all of it in, unless somebody reads it. `keeps`: its file keeps its length. */
  | { readonly op: "fold_all"; readonly db: string; readonly keeps: boolean }
  /** Gives a file at rest its log (`log_form.ts`), if it can have one. */
  | { readonly op: "wake"; readonly db: string }
  /** Puts the file to rest, unless somebody has it open. */
  | { readonly op: "rest"; readonly db: string }
  /** Stores the present state as a branch's ancestor. */
  | { readonly op: "store_ancestor"; readonly db: string }
  | { readonly op: "diff"; readonly db: string; readonly rowForm: RowForm }
  | MergeRequest
  | TransactionRequest
  | { readonly op: "close"; readonly db: string }
  /** Has no reply. */
  | { readonly op: "sweep" };

/** A frame about one database. */
export type DatabaseRequest = Exclude<Request, { readonly op: "sweep" }>;

/** Log rows of one kind, by column: the value of all rows, or one for each. */
export interface WireLogTable {
  readonly rows: number;
  readonly columns: readonly (LogValue | readonly LogValue[])[];
}

/** The log row of a restore or a merge, and the id of its audit row. Both rows are written in its transaction. */
export interface WireRecord {
  readonly log: LogValues;
  /** Of a restore. Absent: 0. */
  readonly rowsWritten?: number;
  readonly auditId: string;
}

/** Restores `db` to a snapshot. Names are those of files. */
export interface RestoreRequest {
  readonly op: "restore";
  readonly db: string;
  readonly snapshot: string;
  readonly undo: string;
  /** Name under which a damaged file is set aside. */
  readonly aside: string;
  /** The file has been found damaged before. */
  readonly suspect: boolean;
  readonly nowMs: number;
  readonly record: WireRecord | null;
  readonly replay: ReplayKeys | null;
  /** Digest of the effect that the restore has to have; null: any effect is accepted. */
  readonly expects: string | null;
}

/** Asks for the effect of such a restore. */
export interface CompareSnapshotRequest extends Pick<RestoreRequest, "db" | "snapshot" | "suspect"> {
  readonly op: "compare_snapshot";
}

/** A request that is about a snapshot. */
export type SnapshotRequest = RestoreRequest | CompareSnapshotRequest;

/** Brings a branch into `db`. */
export interface MergeRequest extends WireRecord, Pick<RestoreRequest, "db" | "replay"> {
  readonly op: "merge";
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

/** Work of a transaction over several frames, for which the child has a connection. */
export interface TransactionRequest {
  readonly op: "transaction";
  readonly db: string;
  readonly frame: number;
  /** Tells the transactions of a child apart. */
  readonly number: number;
  /** Set in its first frame: `read` gets a connection that cannot write, `write` takes the engine's lock for writing. */
  readonly begin: "read" | "snapshot" | "write" | null;
  readonly work: TransactionWork;
}

/** What is to be done in a transaction. */
export type TransactionWork =
  | { readonly do: "call"; readonly call: SentCall }
  | { readonly do: "inspect"; readonly statements: readonly InspectedStatement[]; readonly columns?: true }
  | { readonly do: "schema" }
  | { readonly do: "savepoint"; readonly sql: string }
  | {
    readonly do: "commit";
    readonly logRows: readonly WireLogTable[];
    readonly auditRows: readonly (readonly LogValue[])[];
    readonly change: CommitChange["insert"];
  }
  | { readonly do: "end" };

/** How a merge ended; the report is the frame's text. */
export interface WireMerge {
  readonly outcome: "merged" | "conflict" | "refused" | "failed" | "changed";
  readonly failure: EngineFailure | null;
  /** Why the merge was refused. */
  readonly reason: string | null;
  readonly snapshotTaken: boolean;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly statementsRun: number;
  readonly ms: number;
}

/** Not in any JSON, and no line break: standard output would be written once for each line. */
export const HEAD_END = "\t";
/** A frame towards the service with at least so many bytes is long: the service sends the rows of its reads on as bytes. */
export const LONG_FRAME = 1 << 16;

/** Head of a frame towards the service. `committed` follows the `outcomes` of a write group. */
export type Reply =
  /** The greeting: the child has loaded its program. Nothing is sent to it before. */
  | { readonly t: "loaded" }
  /** `utf8`: lengths of texts count bytes, so that the service can pass long texts on as they came. */
  | { readonly t: "outcomes"; readonly o: readonly WireOutcome[]; readonly utf8?: true }
  | { readonly t: "committed" }
  | ({ readonly t: "inspected" } & Inspected)
  | { readonly t: "schema"; readonly v: number; readonly tables: readonly NamedTable[] }
  /** A call, savepoint or commit of a transaction has run; `open`: the transaction is still there. */
  | {
    readonly t: "transaction";
    readonly o: WireOutcome | null;
    readonly f: EngineFailure | null;
    readonly open: boolean;
  }
  | { readonly t: "replay"; readonly found: WireReplayed | null }
  | { readonly t: "ids"; readonly ids: readonly string[] }
  /** The frame's text is the comparison as JSON. */
  | { readonly t: "compared"; readonly rowsRead: number }
  | { readonly t: "merged"; readonly merge: WireMerge }
  /** `left`: a log may still have rows that are too many. */
  | { readonly t: "done"; readonly left?: boolean }
  /** Frames of the log that are in the file now; null: all, and the log is empty. */
  | { readonly t: "folded"; readonly frames: number | null }
  | { readonly t: "rested"; readonly rests: boolean }
  /** No call of a group of reads ran: the file is at rest, and has to be woken first. */
  | { readonly t: "rests" }
  /** `setAside`: the name of the damaged file; null where a snapshot (`undo`) has the former state or no file was there. */
  | { readonly t: "restored"; readonly setAside: string | null; readonly undo: boolean }
  /** The restore would have another effect than the one it has to have. */
  | { readonly t: "changed" }
  /** The frame's text is the effect of a restore as JSON; `null` where the present state cannot be read. */
  | { readonly t: "restore_effect" }
  /** The snapshot that the request names is damaged. */
  | { readonly t: "damaged" }
  /** What the request names is not there; `ancestor`: the branch's file is, but not that of its ancestor. */
  | { readonly t: "missing"; readonly ancestor?: true }
  | { readonly t: "failed"; readonly f: EngineFailure };

/** Head of the progress file: resident bytes, and of processor time and written bytes what `ChildReport` says (float64); number of the report, parameter set that runs (uint32). */
export const PROGRESS_HEAD_BYTES = 32;
/** A record behind it: frame number, call, statement, each an unsigned 32-bit integer. */
export const PROGRESS_RECORD_BYTES = 12;
/** Position of that set in the head. */
export const PROGRESS_SET_AT = 28;
/** Stands for the statement in a record: the head tells which of its parameter sets runs. */
export const SETS_RUN = 0xffff_ffff;
/** The length of a progress file from the start, so that a full disk prevents no statement. */
export const PROGRESS_FILE_BYTES = PROGRESS_HEAD_BYTES + 340 * PROGRESS_RECORD_BYTES;
/** Milliseconds after which a child starts no further call of a frame: it answers, and the service sends the rest again. */
export const FRAME_BUDGET_MS = 40;
