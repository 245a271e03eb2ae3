// What came of a press of a button on the SQL page. The page shows each kind by a view of its own.
import type { AppError } from "../../../../lib/core/errors.ts";
import { outcomeOf } from "../../../../lib/core/outcome_of.ts";
import { applyWrite } from "../../../../lib/services/proposals/apply_write.ts";
import { redeemApproval } from "../../../../lib/services/approvals/redeem_approval.ts";
import { type ExplainedText, explainText } from "../../../../lib/services/editor/explain_text.ts";
import { type PreparedText, prepareText } from "../../../../lib/services/editor/prepare_text.ts";
import { type ProposedText, proposeText } from "../../../../lib/services/editor/propose_text.ts";
import { type RanText, runText } from "../../../../lib/services/editor/run_text.ts";
import type { TextFailure } from "../../../../lib/services/editor/text_context.ts";
import { firstRows } from "../../../../lib/services/editor/row_chunks.ts";
import type { ResultTable } from "../../../../lib/services/query/read_result.ts";
import type { QueryAnswer, QueryMeta } from "../../../../lib/query/query_call.ts";
import { PLAIN_ROWS } from "../../../../lib/sql/words/row_form.ts";
import type { PageContext } from "../../frame/database_pages.ts";
import type { SqlForm } from "./sql_form.ts";

/** What is shown below the editor. */
export type SqlOutcome =
  | { readonly kind: "nothing" }
  | { readonly kind: "incomplete"; readonly message: string }
  | { readonly kind: "ran"; readonly ran: RanText }
  | { readonly kind: "planned"; readonly planned: ExplainedText }
  | { readonly kind: "proposed"; readonly proposed: ProposedText }
  | { readonly kind: "written"; readonly tables: readonly ResultTable[]; readonly meta: QueryMeta }
  | { readonly kind: "held"; readonly held: HeldWrite }
  | { readonly kind: "failed"; readonly failure: TextFailure };

/** Rows of a table that a statement which writes answers: as many are shown. */
const MOST_ROWS = 200;

/** A write that a person has to approve. */
export interface HeldWrite {
  readonly message: string;
  /** Null where it was told before. */
  readonly approvalUrl: string | null;
  readonly approvalToken: string;
}

/** The text of the form, and what came of it. */
export interface SqlAnswer {
  readonly prepared: PreparedText;
  readonly outcome: SqlOutcome;
}

/** Does what the form asks for. Never throws an `AppError`. */
export async function answerSql(
  ctx: PageContext,
  form: SqlForm,
  signal: () => AbortSignal | null,
): Promise<SqlAnswer> {
  const prepared = await prepareText(ctx, form);
  return { prepared, outcome: await outcomeFor(ctx, { form, prepared, signal }) };
}

interface Asked {
  readonly form: SqlForm;
  readonly prepared: PreparedText;
  readonly signal: () => AbortSignal | null;
}

async function outcomeFor(
  ctx: PageContext,
  { form: { action }, prepared, signal }: Asked,
): Promise<SqlOutcome> {
  const options = { rowForm: PLAIN_ROWS, snapshots: true, replay: null, signal };
  if (action.kind === "apply") {
    return await write(() => applyWrite(ctx, { executionToken: action.executionToken, ...options }));
  }
  if (action.kind === "redeem") return await redeem(ctx, action.approvalToken, signal);
  const { statements, placeholders, writes, problem } = prepared;
  if (problem !== null) return { kind: "incomplete", message: problem };
  if (action.kind === "plan") return { kind: "planned", planned: await explainText(ctx, statements) };
  const missing = placeholders.filter((one) => one.problem !== null).length;
  if (missing > 0) {
    const message = missing === 1
      ? "One value is missing or wrong"
      : `${missing} values are missing or wrong`;
    return { kind: "incomplete", message: `${message}: fill in what is marked, then run it again` };
  }
  if (!writes || action.kind !== "run") {
    const first = action.kind === "run" ? action.first : 0;
    return { kind: "ran", ran: await runText(ctx, { statements, first, signal }) };
  }
  const proposal = await proposeText(ctx, statements);
  return proposal.ok ? { kind: "proposed", proposed: proposal.proposed } : heldOrFailed(proposal.failure);
}

async function write(run: () => Promise<QueryAnswer>): Promise<SqlOutcome> {
  const outcome = await outcomeOf(run);
  if (!outcome.ok) return heldOrFailed({ error: outcome.error, index: null, span: null });
  const { results, meta } = outcome.value;
  return { kind: "written", tables: tablesOf(results), meta };
}

/** Where the approval still waits, it is shown again: its token stands on no other page. */
async function redeem(
  ctx: PageContext,
  approvalToken: string,
  signal: () => AbortSignal | null,
): Promise<SqlOutcome> {
  const input = { approvalToken, rowForm: PLAIN_ROWS, replay: null, signal };
  const outcome = await outcomeOf(() => redeemApproval(ctx, input));
  if (!outcome.ok) {
    const { error } = outcome;
    if (error.code !== "approval_pending") return heldOrFailed({ error, index: null, span: null });
    return { kind: "held", held: { message: error.message, approvalToken, approvalUrl: null } };
  }
  if (!("answer" in outcome.value)) return { kind: "incomplete", message: "It has run" };
  const { results, meta } = outcome.value.answer;
  return { kind: "written", tables: tablesOf(results), meta };
}

function tablesOf(results: QueryAnswer["results"]): ResultTable[] {
  return results.map(({ json }) => firstRows(json, MOST_ROWS));
}

function heldOrFailed(failure: TextFailure): SqlOutcome {
  const held = heldWrite(failure.error);
  return held ? { kind: "held", held } : { kind: "failed", failure };
}

/** What a rule's answer says of a write that it holds; null for any other error. */
export function heldWrite(error: AppError): HeldWrite | null {
  const { approvalUrl, approvalToken } = error.facts.extra ?? {};
  if (error.code !== "approval_required") return null;
  if (typeof approvalUrl !== "string" || typeof approvalToken !== "string") return null;
  return { message: error.message, approvalUrl, approvalToken };
}
