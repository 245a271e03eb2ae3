// Shows what the statements of a text would do, all or none of them, and hands out the token that runs them once.
import { requireRole } from "../../access/caller.ts";
import { DECISION_SEC } from "../../core/limits.ts";
import { outcomeOf } from "../../core/outcome_of.ts";
import { PLAIN_ROWS } from "../../sql/words/row_form.ts";
import { type Execution, issueExecution } from "../proposals/issue_execution.ts";
import { previewWrites, type WritePreview } from "../proposals/preview_writes.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { type TextFailure, textFailure, type TextStatement } from "./text_context.ts";

/** What the text would do. */
export interface ProposedText extends Execution {
  readonly statements: readonly WritePreview[];
  /** Rows that all of them would change, triggers and cascades included; null where it is not known. */
  readonly rows: number | null;
}

/** The proposal, or why there is none. */
export type ProposeOutcome =
  | { readonly ok: true; readonly proposed: ProposedText }
  | { readonly ok: false; readonly failure: TextFailure };

/** Never throws an `AppError`. */
export async function proposeText(
  ctx: StatementsContext,
  statements: readonly TextStatement[],
): Promise<ProposeOutcome> {
  const outcome = await outcomeOf(() => propose(ctx, statements));
  return outcome.ok
    ? { ok: true, proposed: outcome.value }
    : { ok: false, failure: textFailure(outcome.error, statements) };
}

async function propose(
  ctx: StatementsContext,
  statements: readonly TextStatement[],
): Promise<ProposedText> {
  requireRole(ctx.target, "write");
  const previewed = await previewWrites(ctx, {
    statements,
    atomic: true,
    batch: statements.length > 1,
    rowForm: PLAIN_ROWS,
    maxAffected: null,
  });
  const execution = await issueExecution(ctx, previewed, { ttlSec: DECISION_SEC });
  return { ...execution, statements: previewed.data, rows: rowsOf(previewed.data) };
}

function rowsOf(previews: readonly WritePreview[]): number | null {
  let rows = 0;
  for (const { action, estimatedAffectedRows, cascadedRows } of previews) {
    if (action === "read") continue;
    if (estimatedAffectedRows === null || cascadedRows === null) return null;
    rows += estimatedAffectedRows + cascadedRows;
  }
  return rows;
}
