// The stages of a call of statements, and the values that they hand on.
import type { Bill } from "./bill.ts";
import type { RuleMatch } from "./match_rules.ts";
import type { Stages, StageTimer } from "./pipeline.ts";
import type { QueryAnswer, QueryContext, UnderstoodCall } from "./query_call.ts";
import type { EndedOutcome } from "./store_call.ts";

/** A call on one pass through the stages. */
export interface StatementPass {
  readonly ctx: QueryContext;
  readonly understood: UnderstoodCall;
  readonly bill: Bill;
  readonly timer: StageTimer;
  /** The preview by which the call was stopped, which is paid; absent: none has stopped it. */
  stoppedBy?: EndedOutcome;
  /** It was given up because of its caller, which has its row in the log and its price already. */
  isAbandoned?: true;
}

/** `check` finds the rules that the call matches, `admit` the number of rows that it may change (null: any). */
export type StatementStages = Stages<StatementPass, readonly RuleMatch[], number | null, QueryAnswer>;
