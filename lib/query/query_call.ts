// What goes into the statement pipeline and what comes out: the same for every surface that runs SQL.
import type { Clock } from "../core/clock.ts";
import type { HeldCalls } from "../control/held_calls.ts";
import type { KeyedHashes } from "../control/keyed_hashes.ts";
import type { Rules } from "../control/rules.ts";
import type { Role } from "../core/role.ts";
import type { RowForm } from "../sql/row_form.ts";
import type { SqlParameter } from "../sql/sql_value.ts";
import type { StatementFacts } from "../sql/statement_facts.ts";
import type { Approvals } from "../control/approvals.ts";
import type { Meter } from "../control/balance/meter.ts";
import type { Replays, ReplayScope } from "../control/replays.ts";
import type { StatementVerb } from "../sql/statement_kinds.ts";
import type { EngineFailure } from "../engine/engine_failure.ts";
import type {
  LogIdentity,
  StatementResult,
  TenantCall,
  TenantDatabase,
  TenantStore,
} from "../tenant/tenant_store.ts";
import type { Footprint, FootprintAsk } from "../engine/footprint/footprint.ts";
import type { FactsCache } from "./facts_cache.ts";

/** What the pipeline needs of the process. */
export interface QueryContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly facts: FactsCache;
  readonly meter: Meter;
  readonly rules: Rules;
  readonly approvals: Approvals;
  readonly held: HeldCalls;
  readonly hashes: KeyedHashes;
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
  readonly replays: Replays;
  readonly bounds: { readonly rows: number; readonly bytes: number };
}

/** What a call is, as the query log names it. */
export type Operation = "query" | "batch" | "service" | "propose" | "apply" | "redeem_approval" | "endpoint";

/** Who runs it and where; `role` is the effective one. */
export interface QueryTarget {
  readonly namespaceId: string;
  readonly namespaceSlug: string;
  readonly databaseId: string;
  /** As it stands in a path. */
  readonly databaseSlug: string;
  readonly branchRef: string;
  readonly role: Role;
}

/** A statement's text and the values that are bound to it. */
export interface QueryStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

/** A call of one statement or a batch, as the pipeline takes it. */
export interface QueryCall {
  readonly target: QueryTarget;
  readonly tokenId: string;
  readonly userId: string | null;
  /** As the query log shows it. Reads that the service makes for itself (`service`) leave no row. */
  readonly operation: Operation;
  /** Errors name the index of their statement. */
  readonly batch: boolean;
  /** What a person has approved of it: `rule action table` each. Rules that deny are asked all the same. */
  readonly approved: readonly string[];
  readonly statements: readonly QueryStatement[];
  readonly atomic: boolean;
  readonly rowForm: RowForm;
  /** Null: a repeated call runs again. */
  readonly replay: CallReplay | null;
  /** Tells what it would do and does nothing. */
  readonly dryRun: boolean;
  /** Rows that it must change in all, or nothing of it stays. */
  readonly affected: TenantCall["affected"];
  /** Set where it is to tell what it does to rows, or has to do what was approved. */
  readonly footprint: Pick<FootprintAsk, "salt" | "each" | "expects"> | null;
  /** The same, as whoever asked for it allows at most; a held call keeps it. */
  readonly maxAffected: number | null;
  /** False: the caller does without the snapshot before a destructive statement. */
  readonly snapshots: boolean;
  readonly signal: () => AbortSignal | null;
}

/** What makes a call a repetition of an earlier one: its idempotency key, its step of a plan, or both. */
export interface CallReplay {
  readonly idempotency: ReplayScope | null;
  /** Claimed in KV by whoever calls the pipeline. */
  readonly plan: ReplayScope | null;
}

/** A statement whose facts are known, for the schema version of the call. */
export interface UnderstoodCall {
  readonly call: QueryCall;
  readonly database: TenantDatabase;
  readonly schemaVersion: number;
  /** Of the statements, in order, up to the first that cannot be understood. */
  readonly facts: readonly StatementFacts[];
  readonly misunderstood: Misunderstood | null;
  /** False: nothing of it can run, because a statement was misunderstood that it does not run without. */
  readonly canRun: boolean;
  /** Whether its answer belongs into the tenant's database, in its own transaction. */
  readonly writes: boolean;
  readonly log: LogIdentity;
}

/** Why the statement after the last one in `facts` cannot run; it is the caller's error, not a refusal. */
export interface Misunderstood {
  readonly failure: EngineFailure;
  readonly verb: StatementVerb;
  readonly target: string | null;
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
}

/** Where the answer was found, when the call did not run again. */
export interface Replayed {
  readonly idempotency: boolean;
  readonly plan: boolean;
}

/** What the pipeline answers. */
export interface QueryAnswer {
  readonly results: readonly StatementResult[];
  readonly meta: QueryMeta;
  /** Null: the call ran. */
  readonly replayed: Replayed | null;
  /** The tenant's database has stored this answer for the plan. */
  readonly storedForPlan: boolean;
  /** Of a dry run that was asked for it. */
  readonly footprint?: Footprint | undefined;
  /** `Server-Timing` header value: milliseconds by stage. */
  readonly timing: string;
}
