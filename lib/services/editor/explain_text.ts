// How the engine would run each statement of a text: its query plan, as a tree.
import { outcomeOf } from "../../core/outcome_of.ts";
import type { JsonValue } from "../../engine/statement_effect.ts";
import { readResult } from "../query/read_result.ts";
import { readStatement } from "../query/read_statement.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { type TextFailure, textFailure, type TextStatement } from "./text_context.ts";

/** One step of a plan, in the engine's words. */
export interface PlanStep {
  readonly text: string;
  /** From 0: how many steps it stands below. */
  readonly depth: number;
  /** Whether it reads a whole table. */
  readonly fullScan: boolean;
}

/** The plan of one statement. */
export interface StatementPlan {
  readonly sql: string;
  readonly steps: readonly PlanStep[];
}

/** The plans up to the failure, if there is one. */
export interface ExplainedText {
  readonly plans: readonly StatementPlan[];
  readonly failure: TextFailure | null;
}

const HAVE_PLANS: ReadonlySet<string> = new Set(["SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt"]);

/** Never throws an `AppError`. Statements without a plan, such as CREATE, have no steps. */
export async function explainText(
  ctx: StatementsContext,
  statements: readonly TextStatement[],
): Promise<ExplainedText> {
  const plans: StatementPlan[] = [];
  for (const [index, { sql, params }] of statements.entries()) {
    const outcome = await outcomeOf(async () => {
      if (!hasPlan(ctx, sql)) return [];
      const read = { sql: `EXPLAIN QUERY PLAN ${sql}`, params, signal: () => null };
      return planSteps(readResult((await readStatement(ctx, read)).json).rows);
    });
    if (!outcome.ok) {
      const failure = textFailure(outcome.error, statements.slice(index, index + 1));
      return { plans, failure: { ...failure, index } };
    }
    plans.push({ sql, steps: outcome.value });
  }
  return { plans, failure: null };
}

/** A text that cannot be read goes to the engine, whose words about it are better. */
function hasPlan({ facts }: StatementsContext, sql: string): boolean {
  const result = facts.syntax(sql);
  return !result.ok || HAVE_PLANS.has(result.syntax.kind);
}

/** The steps of rows of EXPLAIN QUERY PLAN: id, parent, a number without meaning, text. */
export function planSteps(rows: readonly (readonly JsonValue[])[]): PlanStep[] {
  const depths = new Map<number, number>();
  return rows.map(([id, parent, , detail]) => {
    const depth = (depths.get(Number(parent)) ?? -1) + 1;
    depths.set(Number(id), depth);
    const text = String(detail);
    return { text, depth, fullScan: isFullScan(text) };
  });
}

/**
 * Whether a step of a plan reads every row of a table, in whatever order: by an index too. Constants and subqueries are no
 * tables, and a virtual table that gets an argument finds its rows by it.
 */
export function isFullScan(step: string): boolean {
  return /^SCAN (?!CONSTANT|\d+ CONSTANT|\d+-ROW|\()/.test(step) && !/ VIRTUAL TABLE INDEX \d+:./.test(step);
}
