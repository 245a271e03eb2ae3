// Compiles the statement of a specification against the database, without running it and without a caller to bill.
import { MAX_PARAMETERS } from "../../../core/limits.ts";
import { classify } from "../../../query/classify.ts";
import { failureError } from "../../../query/failure_error.ts";
import type { QueryContext } from "../../../query/query_call.ts";
import { unknownValue } from "../../../sql/sql_value.ts";
import type { StatementFacts } from "../../../sql/statement_facts.ts";
import type { DatabaseRecord } from "../../../store/records.ts";

/** What the engine understands of a statement. */
export type Understood =
  | { readonly ok: true; readonly facts: StatementFacts }
  /** In the words of an issue. */
  | { readonly ok: false; readonly message: string };

/** The database that a specification is for. */
export interface SpecContext {
  readonly query: QueryContext;
  readonly database: DatabaseRecord;
}

/** Compiles it. Errors: those of a store that does not answer, never the statement's own. */
export async function understandSql({ query, database }: SpecContext, sql: string): Promise<Understood> {
  const syntax = query.facts.syntax(sql);
  if (syntax.ok && syntax.syntax.numberedParameter) {
    return {
      ok: false,
      message: "Write ? for every placeholder; inputs are bound in order, so ?N has no meaning",
    };
  }
  const count = syntax.ok ? Math.min(syntax.syntax.parameterCount, MAX_PARAMETERS) : 0;
  const tenant = query.tenants.open(database.id, database.namespaceId);
  const statement = { sql, params: Array.from({ length: count }, () => unknownValue) };
  // Nothing runs here, so only this call tells the cache which version of the schema the database has.
  query.facts.seen(database.id, (await tenant.schema()).schemaVersion);
  const { facts: [facts], misunderstood } = await classify(query, database.id, tenant, [statement]);
  if (facts) return { ok: true, facts };
  if (!misunderstood) throw new TypeError("neither facts nor a reason");
  if (misunderstood.code === "no_statement") {
    return { ok: false, message: "Write one statement; the text holds none" };
  }
  if (misunderstood.code !== null) {
    return { ok: false, message: "Write one statement; the text holds several" };
  }
  const error = await failureError(tenant, { ...misunderstood, sql, index: null });
  if (error.status !== 400) throw error;
  const hint = error.facts.detail?.hint;
  return { ok: false, message: `Correct the statement: ${error.message}${hint ? `. ${hint}` : ""}` };
}
