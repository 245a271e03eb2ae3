// Understands a statement without running it: what it is, what it touches, who may run it.
import { AppError, type ErrorDetail } from "../../core/errors.ts";
import { MAX_PARAMETERS } from "../../core/limits.ts";
import { plainCall } from "../../query/plain_call.ts";
import { classify } from "../../query/classify.ts";
import { Bill } from "../../query/bill.ts";
import { misunderstoodError } from "../../query/call_error.ts";
import type { QueryCall } from "../../query/query_call.ts";
import type { Role } from "../../core/role.ts";
import type { StatementFacts } from "../../sql/statement_facts.ts";
import type { StatementClass } from "../../sql/statement_kinds.ts";
import { type SqlParameter, toSqlParameter, unknownValue } from "../../sql/sql_value.ts";
import type { JsonParameter, StatementsContext } from "../query/run_statements.ts";

/** A statement to check. */
export interface ValidateInput {
  readonly sql: string;
  /** Absent: neither the values nor their number are checked. */
  readonly params?: readonly JsonParameter[] | undefined;
}

/** What the engine says about a statement. */
export interface Validation {
  /** The engine compiles it and some role may run it. */
  readonly ok: boolean;
  /** Null for a text that is no statement of this database. */
  readonly class: StatementClass | null;
  /** Tables read and written, spelled as in the schema, also those behind views and triggers. */
  readonly tables: readonly string[];
  /** `table.column`. */
  readonly columns: readonly string[];
  /** The lowest role that may run it; null where no role may. */
  readonly role: Role | null;
  readonly errorDetail?: ErrorDetail;
}

/** Billed as one request. Errors: those of the balance and of the store; never the statement's own. */
export async function validateStatement(ctx: StatementsContext, input: ValidateInput): Promise<Validation> {
  const call = callOf(ctx, input);
  const { databaseId, namespaceId } = ctx.target;
  const bill = new Bill(ctx.meter, ctx.target);
  return await bill.during(true, async () => {
    const database = ctx.tenants.open(databaseId, namespaceId);
    // Nothing runs here, so only this call tells the cache which version of the schema the database has.
    ctx.facts.seen(databaseId, (await database.schema()).schemaVersion);
    const classified = await classify(ctx, databaseId, database, call.statements);
    bill.figures = { rowsRead: 0, rowsWritten: 0 };
    const [facts] = classified.facts;
    if (facts) return understood(facts);
    return misunderstood(await misunderstoodError({ ...classified, call, database }, []));
  });
}

function callOf(ctx: StatementsContext, { sql, params }: ValidateInput): QueryCall {
  return plainCall({
    target: ctx.target,
    tokenId: ctx.tokenId,
    operation: "query",
    statements: [{ sql, params: params ? params.map(toSqlParameter) : placeholders(ctx, sql) }],
  });
}

/** As many values as the text has placeholders, so that their number is no fault. */
function placeholders(ctx: StatementsContext, sql: string): SqlParameter[] {
  const result = ctx.facts.syntax(sql);
  const count = result.ok ? result.syntax.parameterCount : 0;
  return Array.from({ length: Math.min(count, MAX_PARAMETERS) }, () => unknownValue);
}

function understood(facts: StatementFacts): Validation {
  const refused = facts.role === null;
  const touched = {
    tables: [...new Set([...facts.tablesRead, ...facts.tablesWritten])].sort(),
    columns: [...new Set([...facts.columnsRead, ...facts.columnsWritten])].sort(),
  };
  return {
    ok: !refused,
    class: facts.class,
    ...touched,
    role: facts.role,
    ...(refused
      ? {
        errorDetail: detail("unknown", `${facts.refusal ?? "This statement"} is not available to any role`),
      }
      : {}),
  };
}

/** Throws errors that are not about the text, such as a store that does not answer. */
function misunderstood(error: AppError): Validation {
  if (error.status !== 400) throw error;
  return {
    ok: false,
    class: null,
    tables: [],
    columns: [],
    role: null,
    errorDetail: error.facts.detail ?? detail("syntax_error", error.message),
  };
}

function detail(kind: ErrorDetail["kind"], hint: string): ErrorDetail {
  return { kind, table: null, column: null, hint };
}
