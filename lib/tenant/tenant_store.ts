// Where tenant databases live: the seam between the product and its SQL engines. `tests/contracts/` is what each passes.
import type { EngineFailure } from "../engine/engine_failure.ts";
import type { Level } from "../engine/guard.ts";
import type { NamedTable } from "../engine/list_tables.ts";
import type { ReplayKeys } from "../engine/replay_keys.ts";
import type { RestoreEffect } from "../sql/branch_report.ts";
import type { Replacing } from "../sql/replaced_rows.ts";
import type { RowForm } from "../sql/row_form.ts";
import type { SchemaRows } from "../sql/schema_rows.ts";
import type { EngineFacts } from "../sql/statement_facts.ts";
import type { SqlParameter } from "../sql/sql_value.ts";
import type { BranchStore } from "./branch_store.ts";
import type { DatabaseStorage, Restored } from "./damage.ts";
import type { EndpointCallRow } from "./endpoint_call_row.ts";
import type { Footprint, FootprintAsk } from "../engine/footprint/footprint.ts";
import type { AffectedBound } from "./call_records.ts";
import type { RestoreOptions, SnapshotInfo } from "./snapshots.ts";
import type { ServiceStatement } from "./service_statement.ts";
import type { StoreStrain } from "./store_strain.ts";
import type { StatementEffect } from "../engine/statement_effect.ts";

/** All databases of one installation. Ids are `db_…`; one id is one database for ever, never reused. */
export interface TenantStore {
  /** Makes an empty database with the service's own tables. */
  create(databaseId: string): Promise<void>;
  /** Copies a database or a snapshot; log and kept answers begin empty. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  copy(databaseId: string, from: CopySource): Promise<void>;
  readonly branches: BranchStore<LogIdentity, EngineFailure>;
  /** A cheap handle; nothing is opened before the first call. `namespaceId` is the unit of fairness. */
  open(databaseId: string, namespaceId: string): TenantDatabase;
  /** Lets go of a database's storage, which goes now or soon. Calls in flight fail with `store_unavailable`. */
  drop(databaseId: string): Promise<void>;
  /** How much room it takes (0 for one that is not there), and whether it can be read, without asking its engine. */
  storageOf(databaseId: string): Promise<DatabaseStorage>;
  /** Resolves when the store answers, with what is the matter all the same. Errors: `store_unavailable`. */
  ready(): Promise<readonly StoreStrain[]>;
  /** Upkeep every few minutes: drops what is too old and what a crash left behind. */
  sweep(): Promise<void>;
  /** Finishes what is queued, writes the buffered log rows, ends every process. */
  close(): Promise<void>;
}

/** The state that a new database starts with. */
export interface CopySource {
  readonly databaseId: string;
  /** Null: the present state. */
  readonly snapshot: string | null;
  /** The first rows of the copy's log and audit trail. */
  readonly log?: LogIdentity;
}

/** One database. Failures of the caller's SQL are outcomes; failures of the store are thrown `AppError`s. */
export interface TenantDatabase {
  /**
   * Compiles statements without running them and tells what each would touch; a later one sees the schema that the
   * earlier ones would leave. Stops at the first that does not compile. The texts must have passed the syntax check
   * first, and none may be a PRAGMA: those execute while they are compiled. Without foreign keys nothing cascades.
   * What takes longer than a statement may is a failure of the first.
   */
  inspect(statements: readonly InspectedStatement[], options?: InspectOptions): Promise<Inspection>;
  /** Runs the statements of one call. */
  run(call: TenantCall): Promise<TenantOutcome>;
  /** The kept answer of an earlier call under one of the keys, without running anything; null where there is none. */
  findReplay(replay: ReplayKeys): Promise<ReplayFound | null>;
  /**
   * Notes the keys of a call whose answer is kept elsewhere: another call under them is a `replay_mismatch`. A key that has
   * an answer here stays as it is.
   */
  noteReplay(replay: ReplayKeys): Promise<void>;
  /** Runs the service's own statements in one transaction, in the write slot. */
  write(statements: readonly ServiceStatement[]): Promise<void>;
  /** Newest first. */
  snapshots(): Promise<SnapshotInfo[]>;
  /** Errors: `slug_taken` when the label is in use. */
  takeSnapshot(label: string): Promise<SnapshotInfo>;
  /**
   * Makes the database what it was, after a snapshot of what it is (`undoLabel`). Log, audit trail and kept answers
   * stay, and get the rows of `log` as it takes place. Calls in flight finish first, later ones wait. One that cannot
   * be read is set aside, and what can be read of its log, audit trail and answers is carried over. Errors:
   * `snapshot_not_found`, `snapshot_corrupt`, `effect_changed`.
   */
  restore(label: string, more: RestoreOptions<LogIdentity>): Promise<Restored>;
  /** What that would do; null: the present state cannot be read. Errors: `snapshot_not_found`, `snapshot_corrupt`. */
  compareSnapshot(label: string): Promise<RestoreEffect | null>;
  /** Tables, views and their columns, for messages that name near matches. */
  schema(): Promise<SchemaNames>;
  /** Keeps a log row of a call that never reached the engine, within `LOG_DELAY_MS`. */
  record(row: LogRow): void;
  /** Keeps the row of a published endpoint's call likewise. */
  recordEndpointCall(row: EndpointCallRow): void;
}

/** A statement to compile. */
export interface InspectedStatement {
  readonly sql: string;
  /** It changes the schema, so that what follows must be compiled against the result. */
  readonly changesSchema: boolean;
}

/** How statements are compiled. */
export interface InspectOptions {
  /** As of a call that runs so. */
  readonly foreignKeysOff: boolean;
}

/** `facts` of those that compile, in order; `failure` is about the one after the last of them. */
export interface Inspection {
  /** What the facts hold for, before any of the statements has run. */
  readonly schemaVersion: number;
  readonly facts: readonly EngineFacts[];
  readonly failure: EngineFailure | null;
}

/** A statement with its values. */
export interface TenantStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
  /** What compiling it needs: EXPLAIN of a write runs on a reading connection all the same. */
  readonly level: Level;
  /** Set where conflicts may replace rows, which count for dry runs and for `affected`. */
  readonly replacing?: Replacing;
  /** Of a change of the schema, how the rows are counted that it writes or removes. */
  readonly schemaRows?: SchemaRows;
  /** Statements of the service's own that run behind it, if it has run. */
  readonly after?: readonly ServiceStatement[];
}

/** One call of the pipeline to a database. */
export interface TenantCall {
  /** What the connection must allow and nothing above it. */
  readonly level: Level;
  readonly statements: readonly TenantStatement[];
  /** All or nothing; otherwise statements before the first failure stay. */
  readonly atomic: boolean;
  /** The facts that let this call through hold for this schema; another one makes the outcome `stale`. */
  readonly schemaVersion: number;
  readonly bounds: { readonly rows: number; readonly bytes: number };
  readonly rowForm: RowForm;
  /** `PRAGMA foreign_keys` off for this call (it has no meaning inside a transaction, so it is no statement here). */
  readonly foreignKeysOff: boolean;
  /** The call reads the service's log tables: rows still waiting are written first. */
  readonly readsLog: boolean;
  /** Null for reads of the service's own. Without the figures: the engine's side adds them and writes the row (a mutation's in its own transaction). */
  readonly log: LogIdentity | null;
  /** Kind of an error found before the call ran, after its last statement: makes the log row an error. */
  readonly failsWith: string | null;
  /** Set for mutations: every table written, through triggers and cascades too; the audit row names them. */
  readonly auditTables: readonly string[] | null;
  /** Keys under which the answer of a mutation is kept in its own transaction; looked up before it runs. */
  readonly replay: ReplayKeys | null;
  /** Label of the snapshot to take in the write slot before the first statement; dropped again when nothing is kept. */
  readonly snapshot: string | null;
  /** Runs it and undoes it: the results carry what it would do. Writes no log, audit or kept answer. */
  readonly dryRun: boolean;
  readonly affected: AffectedBound | null;
  /** Set where the call is to tell what it does to rows, or has to do what it did before. */
  readonly footprint?: FootprintAsk | null;
  /** Milliseconds that a statement of it may run, where that is less than the store's own bound. */
  readonly timeoutMs: number | null;
  /** Aborted when nobody waits for the answer any more: the statement is stopped. */
  readonly signal: () => AbortSignal | null;
}

/** What the database knows about a call that may have run before. */
export type ReplayFound =
  /** `answer` is in the form of `stored_answer.ts`; `matched` are places in `keys`. */
  | { readonly ok: "replayed"; readonly answer: string; readonly matched: readonly number[] }
  /** The key is taken by a call with another request hash. */
  | { readonly ok: "replay_mismatch" };

/** The result of one statement. */
export interface StatementResult {
  /** `{"columns":[…],"rows":[…]` as JSON text without the closing brace, ready to be spliced into an answer. */
  readonly json: string;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Of a dry run. */
  readonly effect?: StatementEffect;
}

/** What a call came to. */
export type TenantOutcome =
  | {
    readonly ok: true;
    readonly results: readonly StatementResult[];
    /** Of a dry run that was asked for it. */
    readonly footprint?: Footprint;
    readonly durationMs: number;
    readonly rowsReadBasis: "engine" | "plan";
  }
  | {
    readonly ok: false;
    /** Of the statements that ran: kept ones when not atomic, otherwise empty. */
    readonly results: readonly StatementResult[];
    readonly failedIndex: number;
    readonly failure: EngineFailure;
    /** What the engine did, kept or not: it is paid for. */
    readonly work: { readonly rowsRead: number; readonly rowsWritten: number };
    /** Of a dry run: of the statements before the failure. */
    readonly effects?: readonly StatementEffect[];
    readonly footprint?: Footprint;
    readonly durationMs: number;
    readonly rowsReadBasis: "engine" | "plan";
  }
  | { readonly ok: "stale"; readonly schemaVersion: number }
  | ReplayFound;

/** The names in a schema. */
export interface SchemaNames {
  readonly schemaVersion: number;
  readonly tables: readonly NamedTable[];
}

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
