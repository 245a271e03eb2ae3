// What goes into the statement pipeline and what comes out: the same for every surface that runs SQL.
import type { Clock } from "../core/clock.ts";
import type { Role } from "../core/role.ts";
import type { SqlParameter } from "../sql/sql_value.ts";
import type { StatementFacts } from "../sql/statement_facts.ts";
import type { LogIdentity, StatementResult, TenantDatabase, TenantStore } from "../tenant/tenant_store.ts";
import type { FactsCache } from "./facts_cache.ts";

/** What the pipeline needs of the process. */
export interface QueryContext {
  readonly tenants: TenantStore;
  readonly clock: Clock;
  readonly facts: FactsCache;
  readonly bounds: { readonly rows: number; readonly bytes: number };
}

/** Who runs it and where; `role` is the effective one. */
export interface QueryTarget {
  readonly namespaceId: string;
  readonly databaseId: string;
  readonly role: Role;
}

export interface QueryStatement {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

export interface QueryCall {
  readonly target: QueryTarget;
  readonly tokenId: string;
  readonly userId: string | null;
  /** As the query log shows it: `query`, `batch`. Reads that the service makes for itself leave no row. */
  readonly operation: "query" | "batch" | "service";
  readonly statements: readonly QueryStatement[];
  readonly atomic: boolean;
  readonly integersAsStrings: boolean;
  readonly signal: () => AbortSignal | null;
}

/** A statement whose facts are known, for the schema version of the call. */
export interface UnderstoodCall {
  readonly call: QueryCall;
  readonly database: TenantDatabase;
  readonly schemaVersion: number;
  readonly facts: readonly StatementFacts[];
  readonly log: LogIdentity;
}

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

export interface QueryAnswer {
  readonly results: readonly StatementResult[];
  readonly meta: QueryMeta;
  /** `Server-Timing` header value: milliseconds by stage. */
  readonly timing: string;
}
