// Makes the answer of a call from the engine's results, the same for a call that has just run and for a stored one.
import { castWarnings } from "../sql/hints/cast_warnings.ts";
import { clockWarnings } from "../sql/hints/clock_warnings.ts";
import { definitionWarnings } from "../sql/hints/definition_warnings.ts";
import { runsOf } from "../sql/words/param_sets.ts";
import type { StatementResult } from "../tenant/tenant_store.ts";
import { costNanoUsd, type Prices, pricesOf, toUsd } from "./prices.ts";
import type { QueryAnswer, QueryMeta, UnderstoodCall } from "./query_call.ts";

/** The part of an answer that is stored beside the engine's figures, so that a repetition gets the same answer. */
export interface AnswerContext {
  readonly queryLogId: string;
  readonly snapshot: string | null;
  readonly statementCount: number;
  /** Prices at the time of the call. */
  readonly prices: Prices;
  /** Absent where there are none. */
  readonly warnings?: readonly string[] | undefined;
  /** As a call of a migration file has it. Absent: it is none. */
  readonly before?: string;
}

/** Makes that part of the answer for a call. */
export function answerContext(
  { call, facts, log, lost = [] }: Pick<UnderstoodCall, "call" | "facts" | "log" | "lost">,
  snapshot: string | null,
): AnswerContext {
  const own = { queryLogId: log.id, snapshot, statementCount: runsOf(call), prices: pricesOf(call) };
  const context = call.migration === undefined ? own : { ...own, before: call.migration.before };
  const isSchema = facts.some((one) => one.class === "schema");
  const warnings = [...warningsOf(call.statements, isSchema), ...lost];
  return warnings.length === 0 ? context : { ...context, warnings };
}

function warningsOf(statements: readonly { readonly sql: string }[], isSchema: boolean): readonly string[] {
  const all: string[] = [];
  let text: string | null = null;
  let own: readonly string[] = [];
  for (const { sql } of statements) {
    // The statements of a batch mostly have one text.
    if (sql !== text) {
      const always = [...clockWarnings(sql), ...castWarnings(sql)];
      own = isSchema ? [...always, ...definitionWarnings(sql)] : always;
    }
    text = sql;
    for (const warning of own) all.push(warning);
  }
  return all;
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

/** The engine's figures of a run, beside its results. */
export interface RunFigures {
  readonly durationMs: number;
  readonly rowsReadBasis: "engine" | "plan";
}

/** Makes the answer of a call from its results. */
export function answerOf(
  ran: RunFigures & Pick<QueryAnswer, "footprint" | "rowsRemoved"> & {
    readonly results: readonly StatementResult[];
  },
  context: AnswerContext,
): QueryAnswer {
  return {
    results: ran.results,
    footprint: ran.footprint,
    rowsRemoved: ran.rowsRemoved,
    meta: metaOf(totals(ran.results), ran, context),
    replayed: null,
    storedForPlan: false,
    timing: "",
  };
}

/** Makes the `meta` of an answer: figures and their cost. */
export function metaOf(
  { rowsRead, rowsWritten }: Totals,
  { durationMs, rowsReadBasis }: RunFigures,
  { queryLogId, snapshot, statementCount, prices, warnings }: AnswerContext,
): QueryMeta {
  const meta = {
    rowsRead,
    rowsWritten,
    durationMs: Math.round(durationMs),
    statementCount,
    costUsd: toUsd(costNanoUsd(rowsRead, rowsWritten, prices)),
    snapshot,
    queryLogId,
    rowsReadBasis,
  };
  return warnings === undefined ? meta : { ...meta, warnings };
}
