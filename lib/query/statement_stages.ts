// A call of statements on its way through the stages, and what they hand one another.
import type { Bill } from "./bill.ts";
import type { RuleMatch } from "./match_rules.ts";
import type { Stages, StageTimer } from "./pipeline.ts";
import type { QueryAnswer, QueryContext, UnderstoodCall } from "./query_call.ts";

/** One try of a call. */
export interface StatementPass {
  readonly ctx: QueryContext;
  readonly understood: UnderstoodCall;
  readonly bill: Bill;
  readonly timer: StageTimer;
}

/** They find the rules that the call is about, and then the number of rows that it may change (null: any). */
export type StatementStages = Stages<StatementPass, readonly RuleMatch[], number | null, QueryAnswer>;
