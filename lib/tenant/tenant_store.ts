// Where tenant databases live: the seam between the product and its SQL engines. `tests/contracts/` is what each passes.
import type { DatabaseIds } from "../core/database_ids.ts";
import type { MetricFamily } from "../core/metrics.ts";
import type { DiskReserve } from "../store/disk_reserve.ts";
import type { EngineFailure } from "../engine/engine_failure.ts";
import type { Level } from "../engine/guard.ts";
import type { InspectedStatement } from "../engine/compile_statement.ts";
import type { Inspection, InspectOptions, SchemaNames } from "./inspection.ts";
import type { ReplayKeys } from "./stored_answer.ts";
import type { RestoreEffect } from "../sql/service/branch_report.ts";
import type { ChangeStep } from "../sql/service/change_rows.ts";
import type { RowForm } from "../sql/words/row_form.ts";
import type { ParamSets } from "../sql/words/param_sets.ts";
import type { BranchStore } from "./branch_store.ts";
import type { TenantStatement } from "./tenant_statement.ts";
import type { CommitNotices } from "./commit_notices.ts";
import type { CopySource } from "./copy_source.ts";
import type { MomentArchive } from "./moment_archive.ts";
import type { DatabaseFiles } from "./database_files.ts";
import type { DatabaseStorage, Restored } from "./damage.ts";
import type { EndpointCallRow } from "./endpoint_call_row.ts";
import type { Footprint, FootprintAsk } from "../engine/footprint/footprint.ts";
import type { AffectedBound, MigrationAsk } from "./call_records.ts";
import type { RestoreOptions, SnapshotInfo } from "./snapshots.ts";
import type { ServiceStatement } from "./service_statement.ts";
import type { StoreStrain } from "./store_strain.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";
import type { TransferStore } from "./transfer/transfer_store.ts";
import type { TransactionControl, TransactionOptions } from "./transaction_control.ts";

/** All databases of one installation. Ids are `db_…`; one id is one database for ever, never reused. */
export interface TenantStore {
  /** Makes an empty database with the service's own tables. Resolves with its storage where that is known by then, else null. */
  create(databaseId: string): Promise<DatabaseStorage | null>;
  /** Copies a state without log and stored answers. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  copy(databaseId: string, from: CopySource<LogIdentity>): Promise<void>;
  readonly branches: BranchStore<LogIdentity, EngineFailure>;
  /** Told of each commit that this process has made. */
  readonly commits: CommitNotices;
  /** Exports and imports; null where this process may start no child, or has no disk. */
  readonly transfers: TransferStore | null;
  /** Null where nothing is archived by this process. */
  readonly archive: MomentArchive | null;
  /** Null where databases are no files of this machine. */
  readonly files: DatabaseFiles | null;
  /** Room on the disk that is set aside; null where databases are no files of this machine. */
  readonly reserve: Pick<DiskReserve, "lend"> | null;
  /** What it tells about itself to whoever scrapes, of no database alone. */
  metrics(): readonly MetricFamily[];
  /** A cheap handle; nothing is opened before the first call. Namespaces are the unit of fairness. */
  open(database: DatabaseIds): TenantDatabase;
  /** Deletes a database's storage, now or soon. Calls in flight fail with `store_unavailable`. */
  drop(databaseId: string): Promise<void>;
  /** Reports a database's size (0 for a missing one) and whether it can be read, without asking its engine. */
  storageOf(databaseId: string): Promise<DatabaseStorage>;
  /** Resolves when the store answers, with its problems if it has any. Errors: `store_unavailable`. */
  ready(): Promise<readonly StoreStrain[]>;
  /** Deletes expired data and what a crash left behind; to be called every few minutes. */
  sweep(): Promise<void>;
  /** Finishes what is queued, writes the buffered log rows, ends every process. */
  close(): Promise<void>;
}

/** One database. Failures of the caller's SQL are outcomes; failures of the store are thrown `AppError`s. */
export interface TenantDatabase {
  /**
   * Compiles statements without running them and reports what each would touch. A later statement sees the schema that
   * the earlier ones would leave. Compiling stops at the first failure. The texts must have passed the syntax check, and
   * none may be a PRAGMA, because a PRAGMA executes while it is compiled. Without foreign keys nothing cascades. If
   * compiling exceeds the time limit of a statement, the first statement fails.
   */
  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection>;
  /** Runs the statements of one call. */
  run(call: TenantCall): Promise<TenantOutcome>;
  /** Begins a transaction over several calls. Errors: `transaction_limit`. */
  begin(options: TransactionOptions): TenantTransaction;
  /** The same when there is room for one, if that is soon. `signal`: whoever asks has gone. */
  beginInTurn(options: TransactionOptions, signal: AbortSignal | null): Promise<TenantTransaction>;
  /** Finds the stored answer of an earlier call under one of the keys, without running anything; null for none. */
  findReplay(replay: ReplayKeys): Promise<ReplayFound | null>;
  /**
   * Notes the keys of a call whose answer is stored elsewhere: another call under them is a `replay_mismatch`. A key that
   * already has an answer here does not change.
   */
  noteReplay(replay: ReplayKeys): Promise<void>;
  /** Runs the service's own statements in one transaction, in the write slot. */
  write(statements: readonly ServiceStatement[]): Promise<void>;
  /** Newest first. */
  snapshots(): Promise<SnapshotInfo[]>;
  /** Errors: `slug_taken` when the label is in use. */
  takeSnapshot(label: string): Promise<SnapshotInfo>;
  /**
   * Restores the database to a snapshot, after taking a snapshot of the present state (`undoLabel`). Log, audit trail and
   * stored answers stay, and the rows of `log` are added in the same transaction. Calls in flight finish first, later ones
   * wait. A damaged file is set aside, and what can be read of its log, audit trail and answers is carried over. Errors:
   * `snapshot_not_found`, `snapshot_corrupt`, `effect_changed`, `outcome_unknown`.
   */
  restore(label: string, more: RestoreOptions<LogIdentity>): Promise<Restored>;
  /** The effect of a restore; null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  compareSnapshot(label: string): Promise<RestoreEffect | null>;
  /** Tables, views and their columns, for messages that name near matches. */
  schema(): Promise<SchemaNames>;
  /** Writes, within `LOG_DELAY_MS`, the log row of a call that never reached the engine. */
  record(row: LogRow): void;
  /** Writes, within `LOG_DELAY_MS`, the row of a call to a published endpoint. */
  recordEndpointCall(row: EndpointCallRow): void;
}

/**
 * A transaction over several calls, one at a time. Its calls run on a connection of its own, and see its changes; they have
 * no stored answers, and `inspect` is for one that has begun.
 */
export type TenantTransaction = Pick<TenantDatabase, "inspect" | "run" | "schema"> & TransactionControl;

/** One call of the pipeline to a database. */
export interface TenantCall {
  /** The level that the connection must allow, and no higher one. */
  readonly level: Level;
  readonly statements: readonly TenantStatement[];
  /**
   * Set where the call has one statement that runs once for each set; its own `params` are those of the first. It has
   * one result (`sets_result.ts`), and `failedIndex` is that of a set.
   */
  readonly paramSets?: ParamSets | null;
  /** The table whose rowids of added rows such a result tells; null: none. */
  readonly rowidOf?: string | null;
  /** All or nothing; otherwise statements before the first failure stay. */
  readonly atomic: boolean;
  /** The schema version for which the call was checked; with another version the outcome is `stale`. */
  readonly schemaVersion: number;
  /** A schema as an `Inspection` told it: for a read whose database's version is not known yet, it stands for the version. */
  readonly schema?: string | undefined;
  readonly bounds: { readonly rows: number; readonly bytes: number };
  readonly rowForm: RowForm;
  /** `PRAGMA foreign_keys` off for this call (it has no meaning inside a transaction, so it is no statement here). */
  readonly foreignKeysOff: boolean;
  /** The call reads the service's log tables: rows still waiting are written first. */
  readonly readsLog: boolean;
  /**
   * Null for reads of the service's own. Without the figures: the engine's side adds them and writes the row (a
   * mutation's in its own transaction).
   */
  readonly log: LogIdentity | null;
  /** Kind of an error found before the call ran, after its last statement: makes the log row an error. */
  readonly failsWith: string | null;
  /** Milliseconds of a statement that was stopped, after its last one: its log row has them too. Absent: none was. */
  readonly stoppedMs?: number;
  /** Set for mutations: every table written, through triggers and cascades too; the audit row names them. */
  readonly auditTables: readonly string[] | null;
  /** What the call may do to them (`kindsOfActions`), for those who follow the changes. */
  readonly changeKinds?: number;
  /** Of a call that may stop in the middle, whose statements write different tables: in their order, each that adds to the ones before. */
  readonly changeSteps?: readonly ChangeStep[];
  /** Keys under which the answer of a mutation is stored in its own transaction; an earlier answer is searched first. */
  readonly replay: ReplayKeys | null;
  /** Label of the snapshot to take in the write slot before the first statement; deleted if nothing is committed. */
  readonly snapshot: string | null;
  /** Runs the call and undoes it; the results carry its effects. Writes no log row, audit row or stored answer. */
  readonly dryRun: boolean;
  readonly affected: AffectedBound | null;
  /** Set where the call has to report its row changes, or has to make the same changes as before. */
  readonly footprint?: FootprintAsk | null;
  /** Set where the call applies a migration file. It is atomic then, and may have no statements. */
  readonly migration?: MigrationAsk | null;
  /** Milliseconds that each statement may run, where that is less than the store's own bound. */
  readonly timeoutMs: number | null;
  /**
   * Aborted when nobody waits for the answer any more; then the statement is stopped. `afterMs`: milliseconds in which nobody looks
   * whether that is so.
   */
  readonly signal: (afterMs?: number) => AbortSignal | null;
}

/** What the database knows about a call that may have run before. */
export type ReplayFound =
  /** `answer` is in the form of `stored_answer.ts`; `matched` holds indexes in `keys`. */
  | { readonly ok: "replayed"; readonly answer: string; readonly matched: readonly number[] }
  /** A call with another request hash has used the key. */
  | { readonly ok: "replay_mismatch" };

/** The result of one statement. */
export interface StatementResult {
  /** `{"columns":[…],"rows":[…]` as JSON text without the closing brace, ready to be spliced into an answer. */
  readonly json: string;
  /** The same text in UTF-8, where the store has it in no other form: it costs less to send these bytes than to read the text. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Gives the memory of these bytes back for the next result. From then on nobody reads them, nor the text. */
  readonly giveBack?: () => void;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Of a dry run. */
  readonly effect?: StatementEffect;
}

/** The outcome of a call. */
export type TenantOutcome =
  | {
    readonly ok: true;
    readonly results: readonly StatementResult[];
    /** Present for a dry run that was asked for it. */
    readonly footprint?: Footprint;
    /** Rows that were replaced, or went with their table, and count in no `rowsWritten`. Absent: none, or not counted. */
    readonly rowsRemoved?: number;
    readonly durationMs: number;
    readonly rowsReadBasis: "engine" | "plan";
    /** Where the call named a schema instead. */
    readonly schemaVersion?: number;
  }
  | {
    readonly ok: false;
    /** The results of statements that stay: those before the failure where the call is not atomic, otherwise none. */
    readonly results: readonly StatementResult[];
    readonly failedIndex: number;
    readonly failure: EngineFailure;
    /** The engine's work, committed or not; it is billed. */
    readonly work: { readonly rowsRead: number; readonly rowsWritten: number };
    /** For a dry run: the effects of the statements before the failure. */
    readonly effects?: readonly StatementEffect[];
    readonly footprint?: Footprint;
    readonly durationMs: number;
    readonly rowsReadBasis: "engine" | "plan";
  }
  | { readonly ok: "stale"; readonly schemaVersion: number; readonly schema?: string | undefined }
  | ReplayFound;

/** The part of a log row that is known before the call runs. Times are unix milliseconds. */
export interface LogIdentity {
  readonly id: string;
  readonly ts: number;
  readonly namespaceId: string;
  readonly databaseId: string;
  readonly tokenId: string;
  readonly userId: string | null;
  readonly operation: string;
  readonly statementCount: number;
  /** Statement text with its placeholders, cut. */
  readonly sql: string;
}

/** A row of the query log. */
export interface LogRow extends LogIdentity {
  readonly status: "ok" | "error";
  readonly errorKind: string | null;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationMs: number;
}
