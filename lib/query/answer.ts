// The answer of a call from what its engine gave, the same whether it has just run or was stored.
import type { StatementResult } from "../tenant/tenant_store.ts";
import { costNanoUsd, priceNanoUsd, type Prices, toUsd } from "./prices.ts";
import type { QueryAnswer, QueryCall, QueryMeta } from "./query_call.ts";

/** What an answer says beside the engine's figures; stored with it, so that a repetition says the same. */
export interface AnswerContext {
  readonly queryLogId: string;
  readonly snapshot: string | null;
  readonly statementCount: number;
  /** Prices at the time of the call. */
  readonly prices: Prices;
}

/** What the answer of a call says beside the engine's figures. */
export function answerContext(call: QueryCall, queryLogId: string, snapshot: string | null): AnswerContext {
  return { queryLogId, snapshot, statementCount: call.statements.length, prices: priceNanoUsd };
}

/** Rows that all statements of a call have read and written. */
export interface Totals {
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** Adds up the rows of all results. */
export function totals(results: readonly StatementResult[]): Totals {
  let rowsRead = 0;
  let rowsWritten = 0;
  for (const result of results) {
    rowsRead += result.rowsRead;
    rowsWritten += result.rowsWritten;
  }
  return { rowsRead, rowsWritten };
}

/** What the engine says of a run beside its results. */
export interface RunFigures {
  readonly durationMs: number;
  readonly rowsReadBasis: "engine" | "plan";
}

/** The answer of a call from its results. */
export function answerOf(
  ran: RunFigures & Pick<QueryAnswer, "footprint"> & { readonly results: readonly StatementResult[] },
  context: AnswerContext,
): QueryAnswer {
  return {
    results: ran.results,
    footprint: ran.footprint,
    meta: metaOf(totals(ran.results), ran, context),
    replayed: null,
    storedForPlan: false,
    timing: "",
  };
}

/** The `meta` of an answer: figures and what they cost. */
export function metaOf(
  { rowsRead, rowsWritten }: Totals,
  { durationMs, rowsReadBasis }: RunFigures,
  { queryLogId, snapshot, statementCount, prices }: AnswerContext,
): QueryMeta {
  return {
    rowsRead,
    rowsWritten,
    durationMs: Math.round(durationMs),
    statementCount,
    costUsd: toUsd(costNanoUsd(rowsRead, rowsWritten, prices)),
    snapshot,
    queryLogId,
    rowsReadBasis,
  };
}
