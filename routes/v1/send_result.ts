// Answers of SQL calls: the engine has written the rows as JSON text already, so the envelope is put around them.
import type { QueryAnswer } from "../../lib/query/query_call.ts";
import type { StatementResult } from "../../lib/tenant/tenant_store.ts";

export function sendQuery(answer: QueryAnswer): Response {
  const [result] = answer.results;
  return send(result ? resultText(result) : "null", answer);
}

export function sendBatch(answer: QueryAnswer): Response {
  return send(`[${answer.results.map(resultText).join(",")}]`, answer);
}

function resultText({ json, rowsRead, rowsWritten }: StatementResult): string {
  return `${json},"rowsRead":${rowsRead},"rowsWritten":${rowsWritten}}`;
}

function send(data: string, answer: QueryAnswer): Response {
  return new Response(`{"success":true,"data":${data},"meta":${JSON.stringify(answer.meta)}}`, {
    headers: { "content-type": "application/json", "server-timing": answer.timing },
  });
}
