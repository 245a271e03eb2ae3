// Answers of SQL calls. The engine has written the rows as JSON text, so the envelope is put around them as text.
import type { Context } from "hono";
import type { QueryAnswer } from "../../lib/query/query_call.ts";
import type { MergeAnswer } from "../../lib/services/branches/merge_answer.ts";
import type { StatementResult } from "../../lib/tenant/tenant_store.ts";
import type { Env } from "../http/env.ts";
import { wholeAnswer } from "../http/answers.ts";

/** The answer of one statement. */
export function sendQuery(c: Context<Env>, answer: QueryAnswer): Response {
  const [result] = answer.results;
  return send(c, result ? resultText(result) : "null", answer);
}

/** The answer of a batch. */
export function sendBatch(c: Context<Env>, answer: QueryAnswer): Response {
  return send(c, `[${resultTexts(answer.results)}]`, answer);
}

/** The answer of a merge. */
export function sendMerge(c: Context<Env>, { data, meta, timing }: MergeAnswer): Response {
  return c.json({ success: true, data, meta }, 200, { "Server-Timing": timing });
}

/** The store hands out one object for equal results that follow each other, as those of many inserts. */
function resultTexts(results: readonly StatementResult[]): string {
  let texts = "";
  let last: StatementResult | null = null;
  let text = "";
  for (const result of results) {
    if (result !== last) text = resultText(last = result);
    texts += texts === "" ? text : `,${text}`;
  }
  return texts;
}

function resultText({ json, rowsRead, rowsWritten }: StatementResult): string {
  return `${json},"rowsRead":${rowsRead},"rowsWritten":${rowsWritten}}`;
}

function send(
  c: Context<Env>,
  data: string,
  { meta, timing, replayed, storedForPlan }: QueryAnswer,
): Response {
  const headers: Record<string, string> = { "content-type": "application/json", "server-timing": timing };
  if (storedForPlan) c.set("storedForPlan", true);
  if (replayed?.idempotency) headers["idempotency-replayed"] = "true";
  if (replayed?.plan) headers["plan-replayed"] = "true";
  return wholeAnswer(c, `{"success":true,"data":${data},"meta":${JSON.stringify(meta)}}`, {
    status: 200,
    headers,
  });
}
