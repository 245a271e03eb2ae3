// The input and output of the statement pipeline, the same for every surface that runs SQL.
import type { MadeCall } from "../access/readmit_caller.ts";
import type { RestedNames } from "../sql/grammar/former_names.ts";
import type { Clock } from "../core/clock.ts";
import type { HeldCalls } from "../control/held_calls.ts";
import type { KeyedHashes } from "../control/keyed_hashes.ts";
import type { Rules } from "../control/rules.ts";
import type { Role } from "../core/role.ts";
import type { RowForm } from "../sql/words/row_form.ts";
import type { ParamSets } from "../sql/words/param_sets.ts";
import type { ReturnedColumns } from "../sql/grammar/returned_columns.ts";
import type { SqlParameter } from "../sql/words/sql_value.ts";
import type { TakenValue } from "../sql/words/taken_value.ts";
import type { StatementFacts } from "../sql/grammar/statement_facts.ts";
import type { Approvals } from "../control/approvals.ts";
import type { Meter } from "../control/balance/meter.ts";
import type { Replays, ReplayScope } from "../control/replays.ts";
import type { StatementVerb } from "../sql/words/statement_kinds.ts";
import type { EngineFailure } from "../engine/engine_failure.ts";
import type {
  LogIdentity,
  StatementResult,
  TenantCall,
  TenantDatabase,
  TenantStore,
} from "../tenant/tenant_store.ts";
import type { Footprint, FootprintAsk } from "../engine/footprint/footprint.ts";
import type { Facts } from "./facts_cache.ts";
import type { StatementCounts } from "./statement_counts.ts";
import type { HeldMigrations, MigrationCall } from "./migration_ask.ts";

/** The parts of the process that the pipeline needs. */
export interface QueryContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly meter: Meter;
  readonly rules: Rules;
  readonly approvals: Approvals;
  readonly held: HeldCalls;
  readonly hashes: KeyedHashes;
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
  readonly replays: Replays;
  readonly counts: StatementCounts;
  readonly bounds: { readonly rows: number; readonly bytes: number };
  /** Lets a caller in once more, while its call runs. May throw: it may have been revoked. */
  readonly readmit: (call: MadeCall) => Promise<void>;
}

/** The kind of a call, as the query log names it. */
export type Operation =
  | ("query" | "batch" | "service" | "propose" | "apply" | "redeem_approval" | "endpoint")
  | "migrate"
  | "import";

/** The database and the caller's effective role in it. */
export interface QueryTarget {
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  readonly databaseId: string;
  /** The database whose usage it is, where that is another: of a copy that nobody can find the one that was copied. */
  readonly billedDatabaseId?: string;
  /** As it stands in a path. */
  readonly databaseSlug: string;
  readonly branchRef: string;
  readonly role: Role;
}

/** A statement's text and the values that are bound to it. */
export interface QueryStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
  /** Parameters that take a value of an earlier statement's row; in `params` they are unknown. Only in atomic calls. */
  readonly takes?: readonly TakenValue[];
  /** Set where later statements take values of its rows. */
  readonly returns?: ReturnedColumns;
}

/** A call of one statement or a batch. */
export interface QueryCall {
  readonly target: QueryTarget;
  readonly tokenId: string;
  readonly userId: string | null;
  /** The kind that the query log shows. Reads of the service's own (`service`) leave no row. */
  readonly operation: Operation;
  /** Errors name the index of their statement. */
  readonly batch: boolean;
  /** What a person has approved: `rule action table` each. Rules that deny apply all the same. */
  readonly approved: readonly string[];
  readonly statements: readonly QueryStatement[];
  /** The one statement runs once for each set; its own `params` are those of the first. Null: each runs once. */
  readonly paramSets: ParamSets | null;
  readonly atomic: boolean;
  readonly rowForm: RowForm;
  /** Null: a repeated call runs again. */
  readonly replay: CallReplay | null;
  /** The call is rolled back, and its effect is shown. */
  readonly dryRun: boolean;
  /** The number of rows that the call must change in all; with another number it is undone. */
  readonly affected: TenantCall["affected"];
  /** Set where the call reports its footprint, or has to have the footprint that was approved. */
  readonly footprint: Pick<FootprintAsk, "salt" | "each" | "expects"> | null;
  /** The most rows that the caller lets the call change; a held call stores it. */
  readonly maxAffected: number | null;
  /** False: the caller does without the snapshot before a destructive statement. */
  readonly snapshots: boolean;
  /** True: whoever approved the call wants a snapshot before it, destructive or not. */
  readonly snapshotFirst?: boolean;
  /** Set where the call applies a migration file. It is atomic then, and may have no statements. */
  readonly migration?: MigrationCall;
  /** Set where the statements are those of several migration files, which are decided about together (`decide`). */
  readonly migrations?: Omit<HeldMigrations, "schemaVersion">;
  /** Rows that were changed before it, by the same transaction or file: `minRows` of rules counts them. Absent: none. */
  readonly rowsBefore?: number;
  /** The call runs inside a transaction over several requests, which nobody can approve a part of. */
  readonly inTransaction?: boolean;
  /** Names that tables had before the transaction has renamed them, for a call of several statements. Absent: it has renamed none. */
  readonly formerNames?: RestedNames;
  /** False: another call of the same request has taken the price of the request. */
  readonly opensRequest?: boolean;
  readonly signal: () => AbortSignal | null;
  /**
   * Where a rule holds the call: the name under which its repetitions wait for the same approval, or `never` where nobody
   * may be asked, because a repetition would do more than the call. Absent: as `replay` says.
   */
  readonly heldAs?: (() => ReplayScope) | "never";
}

/** By what a repetition is recognised: the idempotency key, steps of plans, or both. */
export interface CallReplay {
  readonly idempotency: ReplayScope | null;
  /** Claimed in KV by whoever calls the pipeline. */
  readonly plan: ReplayScope | null;
  /** The step that the call was when it was held; `plan` is the step that redeems it. Absent: it was none. */
  readonly heldPlan?: ReplayScope;
}

/** The part of a database, or of a transaction in it, that the stages use. */
export type StatementDatabase = Pick<
  TenantDatabase,
  "inspect" | "run" | "schema" | "record" | "findReplay" | "noteReplay"
>;

/** A call whose statements' facts are known, for one schema version. */
export interface UnderstoodCall {
  readonly call: QueryCall;
  readonly database: StatementDatabase;
  readonly schemaVersion: number;
  /** Where the facts are those of another database, its schema as one text: the store compares it before it runs the call. */
  readonly schema?: string | undefined;
  /** Of the statements, in order, up to the first that cannot be understood. */
  readonly facts: readonly StatementFacts[];
  readonly misunderstood: Misunderstood | null;
  /** False: nothing of the call can run, because it does not run without a statement that could not be understood. */
  readonly canRun: boolean;
  /** Whether the answer is stored in the tenant's database, in the call's own transaction. */
  readonly writes: boolean;
  readonly log: LogIdentity;
  /** Warnings of what it takes along without naming it; absent where nothing is made anew. */
  lost?: readonly string[];
}

/** Why the statement after the last one in `facts` cannot run; it is the caller's error, not a refusal. */
export interface Misunderstood {
  readonly failure: EngineFailure;
  readonly verb: StatementVerb;
  readonly target: string | null;
  /** The run, where it is not that of the next statement. */
  readonly at?: number;
  /** Set where the text is not one statement. */
  readonly code: "no_statement" | "multiple_statements" | null;
}

/** The `meta` of an answer. */
export interface QueryMeta {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationMs: number;
  readonly statementCount: number;
  readonly costUsd: number;
  readonly snapshot: string | null;
  readonly queryLogId: string;
  readonly rowsReadBasis: "engine" | "plan";
  /** What the statements do that hardly anybody means; absent where there is nothing to say. */
  readonly warnings?: readonly string[];
}

/** Where the answer of a repeated call was found. */
export interface Replayed {
  readonly idempotency: boolean;
  readonly plan: boolean;
}

/** The answer of the pipeline. */
export interface QueryAnswer {
  readonly results: readonly StatementResult[];
  readonly meta: QueryMeta;
  /** Null: the call ran. */
  readonly replayed: Replayed | null;
  /** The tenant's database has stored this answer for the plan. */
  readonly storedForPlan: boolean;
  /** The footprint of a dry run that was asked for one. */
  readonly footprint?: Footprint | undefined;
  /** Rows that the call has removed beside those that `meta` counts, as an outcome has them. */
  readonly rowsRemoved?: number | undefined;
  /** `Server-Timing` header value: milliseconds by stage. */
  readonly timing: string;
}
