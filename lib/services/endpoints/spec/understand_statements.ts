// What the engine understands of a specification's statements, without running them and without a caller to bill.
import type { Issue } from "../../../core/errors.ts";
import { MAX_PARAMETERS } from "../../../core/limits.ts";
import { classify } from "../../../query/classify.ts";
import { failureError } from "../../../query/failure_error.ts";
import type { QueryContext } from "../../../query/query_call.ts";
import { sameName } from "../../../sql/words/names.ts";
import { returnsRows } from "../../../sql/grammar/result_columns.ts";
import { withHint } from "../../../sql/hints/sql_error.ts";
import { unknownValue } from "../../../sql/words/sql_value.ts";
import type { StatementFacts } from "../../../sql/grammar/statement_facts.ts";
import type { DatabaseRecord } from "../../../store/records.ts";
import type { TenantDatabase } from "../../../tenant/tenant_store.ts";
import { type EndpointStatement, returnsNothing } from "./bind_inputs.ts";

/** The database that a specification is for. */
export interface SpecContext {
  readonly query: QueryContext;
  readonly database: DatabaseRecord;
}

/** `last`: the statement whose result is the answer. */
export type UnderstoodSpec =
  | { readonly ok: true; readonly facts: readonly StatementFacts[]; readonly last: EndpointStatement }
  | { readonly ok: false; readonly issues: readonly Issue[] };

type Understood =
  | { readonly ok: true; readonly facts: StatementFacts }
  | { readonly ok: false; readonly message: string };

/**
 * Compiles the statements against the database as it is, each by itself. Errors: those of a store that does not answer,
 * never the statements' own.
 */
export async function understandStatements(
  ctx: SpecContext,
  statements: readonly EndpointStatement[],
): Promise<UnderstoodSpec> {
  const several = statements.length > 1;
  const facts: StatementFacts[] = [];
  const returned: (readonly string[])[] = [];
  for (const [at, statement] of statements.entries()) {
    const understood = await understandOne(ctx, statement);
    const fault = understood.ok ? several ? classFault(understood.facts) : null : understood.message;
    if (fault !== null || !understood.ok) {
      const message = several ? `Statement ${at + 1} of ${statements.length}: ${fault}` : fault ?? "";
      return { ok: false, issues: [{ path: "sql", message }] };
    }
    facts.push(understood.facts);
    const issues = statement.takes.flatMap(({ column }) => takenIssues(returned, column));
    if (issues.length > 0) return { ok: false, issues };
    returned.push(several ? await columnsOf(ctx, statement) : []);
  }
  const last = statements.at(-1);
  return last === undefined ? { ok: false, issues: [] } : { ok: true, facts, last };
}

/** A mutation changes rows; statements that only read may stand between. */
function classFault({ class: is }: StatementFacts): string | null {
  if (is === "read" || is === "write") return null;
  return is === "schema" ? "it changes the schema, which no endpoint may" : "nobody may run it";
}

/** The nearest statement with such a column counts, and it has one of that name. */
function takenIssues(returned: readonly (readonly string[])[], column: string): Issue[] {
  const isSame = (one: string) => sameName(one, column);
  const nearest = returned.findLast((columns) => columns.some(isSame));
  if (nearest === undefined) return [returnsNothing(column)];
  if (nearest.filter(isSame).length === 1) return [];
  const message = `Give the columns that are returned different names; two are called ${column.slice(0, 64)}`;
  return [{ path: "sql", message }];
}

/** The columns that a statement which compiles answers with; none where it answers no rows. */
export async function columnsOf(ctx: SpecContext, { sql }: EndpointStatement): Promise<readonly string[]> {
  if (!returnsRows(sql)) return [];
  const inspected = await tenantOf(ctx).inspect([{ sql, changesSchema: false }], {
    foreignKeysOff: false,
    columns: true,
  });
  return inspected.columns?.map(({ name }) => name) ?? [];
}

/** The database that the specification is for. */
export function tenantOf({ query, database }: SpecContext): TenantDatabase {
  return query.tenants.open({ databaseId: database.id, namespaceId: database.namespaceId });
}

async function understandOne(ctx: SpecContext, { written, sql }: EndpointStatement): Promise<Understood> {
  const { query, database } = ctx;
  const syntax = query.facts.syntax(sql);
  if (sql === written && syntax.ok && syntax.syntax.numberedParameter) {
    return fault("Write ? for every placeholder, or :name; inputs are bound in order, so ?N has no meaning");
  }
  const count = syntax.ok ? Math.min(syntax.syntax.parameterCount, MAX_PARAMETERS) : 0;
  const tenant = tenantOf(ctx);
  const statement = { sql, params: Array.from({ length: count }, () => unknownValue) };
  // Nothing runs here, so only this call tells the cache which version of the schema the database has.
  query.facts.seen(database.id, (await tenant.schema()).schemaVersion);
  const { facts: [facts], misunderstood } = await classify(query, database.id, tenant, [statement]);
  if (facts) return { ok: true, facts };
  if (!misunderstood) throw new TypeError("neither facts nor a reason");
  if (misunderstood.code === "no_statement") {
    return fault("Write one statement; the text holds none");
  }
  if (misunderstood.code !== null) {
    return fault("Write one statement; the text holds several, which only a mutation may have");
  }
  const error = await failureError(tenant, { ...misunderstood, sql: written, index: null });
  if (error.status !== 400) throw error;
  return fault(`Correct the statement: ${withHint(error.message, error.facts.detail?.hint)}`);
}

function fault(message: string): Understood {
  return { ok: false, message };
}
