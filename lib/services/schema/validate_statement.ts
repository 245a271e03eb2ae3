// Understands a statement without running it: what it is, what it touches, who may run it.
import { AppError, type ErrorDetail } from "../../core/errors.ts";
import { MAX_PARAMETERS } from "../../core/limits.ts";
import { plainCall } from "../../query/plain_call.ts";
import { classify } from "../../query/classify.ts";
import { Bill } from "../../query/bill.ts";
import { misunderstoodError } from "../../query/call_error.ts";
import type { QueryCall } from "../../query/query_call.ts";
import type { Role } from "../../core/role.ts";
import type { StatementFacts } from "../../sql/grammar/statement_facts.ts";
import type { StatementClass } from "../../sql/words/statement_kinds.ts";
import { type SqlParameter, toSqlParameter, unknownValue } from "../../sql/words/sql_value.ts";
import { hitsOf, matchRules } from "../../query/match_rules.ts";
import type { RuleHit } from "../../store/write_records.ts";
import type { JsonParameter, StatementsContext } from "../query/run_statements.ts";
import { estimateCost } from "./estimate_cost.ts";

/** A statement to check. */
export interface ValidateInput {
  readonly sql: string;
  /** Absent: neither the values nor their number are checked. */
  readonly params?: readonly JsonParameter[] | undefined;
  /** True for people in the console, who are not charged for looking. */
  readonly free?: boolean;
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
  /** How many values its placeholders take; null for a text that is no statement. */
  readonly parameters: number | null;
  /** Rows that it reads and what that costs, about, and the tables that it reads whole; null where it cannot run. */
  readonly rowsRead: number | null;
  readonly costUsd: number | null;
  readonly fullScans: readonly string[];
  /** What rules say of it, as far as the number of rows does not matter. */
  readonly rule: RuleVerdict | null;
  readonly hits: readonly RuleHit[];
  /** What a query would be told; absent where it is ok. */
  readonly error?: string;
  readonly errorDetail?: ErrorDetail;
}

/** `rows`: it depends on how many rows it changes. Null: no rule is about it. */
export type RuleVerdict = "deny" | "require_approval" | "rows";

/** Billed as one request, unless it is free. Errors: those of the balance and of the store; never the statement's own. */
export async function validateStatement(ctx: StatementsContext, input: ValidateInput): Promise<Validation> {
  await ctx.facts.readAhead([input.sql]);
  const call = callOf(ctx, input);
  const { databaseId } = ctx.target;
  const bill = new Bill(ctx.meter, ctx.target);
  const validate = async () => {
    const database = ctx.tenants.open(ctx.target);
    // Nothing runs here, so only this call tells the cache which version of the schema the database has.
    ctx.facts.seen(databaseId, (await database.schema()).schemaVersion);
    const classified = await classify(ctx, databaseId, database, call.statements);
    bill.figures = { rowsRead: 0, rowsWritten: 0 };
    const [facts] = classified.facts;
    if (facts) return await understood(ctx, input.sql, facts);
    const error = await misunderstoodError({ ...classified, call, database }, []);
    return misunderstood(error, parametersOf(ctx, input.sql));
  };
  return input.free === true ? await validate() : await bill.during("reads", validate);
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
  const count = parametersOf(ctx, sql) ?? 0;
  return Array.from({ length: Math.min(count, MAX_PARAMETERS) }, () => unknownValue);
}

function parametersOf(ctx: StatementsContext, sql: string): number | null {
  const result = ctx.facts.syntax(sql);
  return result.ok ? result.syntax.parameterCount : null;
}

async function understood(
  ctx: StatementsContext,
  sql: string,
  facts: StatementFacts,
): Promise<Validation> {
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
    parameters: parametersOf(ctx, sql),
    ...(refused ? UNKNOWN_COST : await estimateCost(ctx, sql, facts)),
    ...(refused ? NO_RULE : await verdictOf(ctx, facts)),
    ...(refused
      ? failed("unknown", `${facts.refusal ?? "This statement"} is not available to any role`)
      : {}),
  };
}

const UNKNOWN_COST = { rowsRead: null, costUsd: null, fullScans: [] } as const;
const NO_RULE = { rule: null, hits: [] } as const;

/** A rule without a bound on rows stops it whatever it changes; `deny` counts before the others. */
async function verdictOf(
  { rules, target }: StatementsContext,
  facts: StatementFacts,
): Promise<Pick<Validation, "rule" | "hits">> {
  const matches = matchRules(await rules.of(target.databaseId) ?? [], [facts]);
  if (matches.length === 0) return NO_RULE;
  const certain = matches.filter(({ rule }) => rule.minRows === null || facts.class === "schema");
  const effects = certain.map(({ rule }) => rule.effect);
  const rule = effects.includes("deny") ? "deny" : effects.length > 0 ? "require_approval" : "rows";
  return { rule, hits: hitsOf(matches) };
}

/** Throws errors that are not about the text, such as a store that does not answer. */
function misunderstood(error: AppError, parameters: number | null): Validation {
  if (error.status !== 400) throw error;
  return {
    ok: false,
    class: null,
    tables: [],
    columns: [],
    role: null,
    parameters,
    ...UNKNOWN_COST,
    ...NO_RULE,
    ...failed("syntax_error", error.message),
    ...(error.facts.detail ? { errorDetail: error.facts.detail } : {}),
  };
}

function failed(
  kind: ErrorDetail["kind"],
  error: string,
): Required<Pick<Validation, "error" | "errorDetail">> {
  return { error, errorDetail: { kind, table: null, column: null, hint: error } };
}
