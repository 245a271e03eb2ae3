// Runs one statement or a batch for the caller of a request.
import type { RowForm } from "../../sql/words/row_form.ts";
import type { ParamSets } from "../../sql/words/param_sets.ts";
import { type SqlParameter, toSqlParameters } from "../../sql/words/sql_value.ts";
import type {
  CallReplay,
  QueryAnswer,
  QueryContext,
  QueryStatement,
  QueryTarget,
} from "../../query/query_call.ts";
import { run } from "../../query/run.ts";

/** A parameter as it comes in JSON. */
export type JsonParameter = string | number | boolean | null | { readonly $blob: string };

/** A call as it comes in: one statement or a batch. */
export interface StatementsInput {
  readonly operation: "query" | "batch";
  readonly statements: readonly {
    readonly sql: string;
    readonly params?: readonly (JsonParameter | SqlParameter)[] | undefined;
  }[];
  /** The one statement runs once for each set; absent or null: each statement runs once. */
  readonly paramSets?: readonly (readonly JsonParameter[])[] | null;
  readonly atomic: boolean;
  readonly rowForm: RowForm;
  readonly replay: CallReplay | null;
  /** False: no snapshot before a destructive statement. */
  readonly snapshots: boolean;
  /** Rows that it may change at most, triggers and cascades included. */
  readonly maxAffected: number | null;
  readonly signal: () => AbortSignal | null;
}

/** From JSON to what the engine binds. */
export function toStatements(statements: StatementsInput["statements"]): QueryStatement[] {
  return statements.map(({ sql, params }) => ({
    sql,
    params: params === undefined ? [] : toSqlParameters(params),
  }));
}

/** From JSON to what the engine binds. */
export function toParamSets(paramSets: StatementsInput["paramSets"]): ParamSets | null {
  return paramSets ? paramSets.map(toSqlParameters) : null;
}

/** Who asks, and for which database. */
export interface StatementsContext extends QueryContext {
  readonly target: QueryTarget;
  readonly tokenId: string;
}

/** Runs the call through the pipeline. Errors: every code of the pipeline. */
export function runStatements(ctx: StatementsContext, input: StatementsInput): Promise<QueryAnswer> {
  // Field by field: spreading objects would be a noticeable part of a point read.
  return run(ctx, {
    target: ctx.target,
    tokenId: ctx.tokenId,
    userId: null,
    operation: input.operation,
    batch: input.operation === "batch",
    approved: [],
    statements: toStatements(input.statements),
    paramSets: toParamSets(input.paramSets),
    atomic: input.atomic,
    rowForm: input.rowForm,
    replay: input.replay,
    dryRun: false,
    affected: null,
    footprint: null,
    maxAffected: input.maxAffected,
    snapshots: input.snapshots,
    signal: input.signal,
  });
}
