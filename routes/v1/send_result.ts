// Answers of SQL calls. The engine has written the rows as JSON text, so the envelope is put around them as text.
import type { Context } from "hono";
import { answerLimits } from "../../lib/core/limits.ts";
import type { QueryAnswer } from "../../lib/query/query_call.ts";
import type { MergeAnswer } from "../../lib/services/branches/merge_answer.ts";
import type { StatementResult } from "../../lib/tenant/tenant_store.ts";
import type { Env } from "../http/env.ts";
import { sendWithRows, wholeAnswer } from "../http/answers.ts";
import { metaText } from "./meta_text.ts";

const encoder = new TextEncoder();
/** Memory in which answers of bytes are put together; each answer gets a copy. */
let scratch = new Uint8Array(0);

/** The answer of one statement. */
export function sendQuery(c: Context<Env>, answer: QueryAnswer): Response {
  const [result] = answer.results;
  if (result?.bytes) {
    const response = send(c, { bytes: result.bytes, rest: figuresText(result) }, answer);
    // The answer has its own copy by now.
    result.giveBack?.();
    return response;
  }
  return send(c, result ? resultText(result) : "null", answer);
}

/** The answer of a batch. */
export function sendBatch(c: Context<Env>, answer: QueryAnswer): Response {
  return send(c, `[${resultTexts(answer.results)}]`, answer);
}

/** The answer of a merge. */
export function sendMerge(c: Context<Env>, { data, meta, timing, replayed }: MergeAnswer): Response {
  const headers = replayed ? { "plan-replayed": "true" } : { "server-timing": timing };
  return sendWithRows(c, { success: true, data, meta }, 200, headers);
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

function resultText(result: StatementResult): string {
  return result.json + figuresText(result);
}

function figuresText({ rowsRead, rowsWritten }: StatementResult): string {
  return `,"rowsRead":${rowsRead},"rowsWritten":${rowsWritten}}`;
}

function send(
  c: Context<Env>,
  data: string | { readonly bytes: Uint8Array; readonly rest: string },
  { meta, timing, replayed, storedForPlan }: QueryAnswer,
): Response {
  const headers: Record<string, string> = { "content-type": "application/json", "server-timing": timing };
  if (storedForPlan) c.set("storedForPlan", true);
  if (replayed?.idempotency) headers["idempotency-replayed"] = "true";
  if (replayed?.plan) headers["plan-replayed"] = "true";
  const head = `{"success":true,"data":`;
  const tail = `,"meta":${replayed === null ? metaText(meta) : JSON.stringify(meta)}}`;
  const body = typeof data === "string" ? head + data + tail : between(head, data.bytes, data.rest + tail);
  return wholeAnswer(c, body, { status: 200, headers });
}

/** The bytes with texts around them, mostly in memory that the next answer uses too. */
function between(before: string, bytes: Uint8Array, behind: string): Uint8Array<ArrayBuffer> {
  const [head, tail] = [encoder.encode(before), encoder.encode(behind)];
  const whole = room(head.length + bytes.length + tail.length);
  whole.set(head);
  whole.set(bytes, head.length);
  whole.set(tail, head.length + bytes.length);
  return whole;
}

function room(length: number): Uint8Array<ArrayBuffer> {
  if (length > answerLimits.copiedBytes) return new Uint8Array(length);
  if (length > scratch.length) scratch = new Uint8Array(Math.min(answerLimits.copiedBytes, 2 * length));
  return scratch.subarray(0, length);
}
