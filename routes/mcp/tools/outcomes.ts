// What writes have done, or would do, in the words of an answer.
import type { QueryAnswer } from "../../../lib/query/query_call.ts";
import type { Redeemed } from "../../../lib/services/approvals/redeem_approval.ts";
import type { MergeAnswer } from "../../../lib/services/branches/merge_answer.ts";
import type { WritePreview } from "../../../lib/services/proposals/preview_writes.ts";
import { readResult } from "../../../lib/services/query/read_result.ts";
import { contentAnswer, marked, type McpAnswer } from "./answer.ts";
import { MAX_ANSWER_LENGTH } from "./fitted.ts";
import { withoutRows } from "./merge_report.ts";
import { rowsText, warningsText } from "./rows_answer.ts";

/** What a write would do. */
export function previewed(
  { sql: _, plan: __, estimatedAffectedRows, ...shown }: WritePreview,
): object {
  const hint = shown.rule === undefined ? undefined : rulesSay[shown.rule];
  return { affectedRows: estimatedAffectedRows, ...shown, ...(hint === undefined ? {} : { hint }) };
}

/** What an agent has to expect of a write that a rule is about. */
const rulesSay = {
  require_approval:
    "A rule holds this write: it will answer approval_required, and run once a person has approved it",
  deny: "A rule forbids this write. Tell the user, and do not try it another way",
} as const;

/** `{results, snapshot, queryLogId, warnings?}`: rows that were asked back as far as there is room, all numbers. */
export function written({ results, meta, replayed }: QueryAnswer): McpAnswer {
  let room = MAX_ANSWER_LENGTH;
  const texts = results.map(({ json, rowsWritten }) => {
    const table = readResult(json);
    if (table.columns.length === 0) return `{"rowsWritten":${rowsWritten}}`;
    const { json: rows, shown } = rowsText(table, room);
    room -= rows.length;
    const more = shown < table.rows.length ? ',"more":true' : "";
    return `${rows},"rowsWritten":${rowsWritten}${more}}`;
  });
  const again = replayed === null ? "" : ',"replayed":true';
  const rest = `"snapshot":${JSON.stringify(meta.snapshot)},"queryLogId":${JSON.stringify(meta.queryLogId)}`;
  return {
    text: marked(`{"results":[${texts.join(",")}],${rest}${warningsText(meta.warnings)}${again}}`),
    isError: false,
  };
}

/** What a merge has done, or would do. */
export function merged({ data }: MergeAnswer): McpAnswer {
  return contentAnswer(withoutRows(data));
}

/** What an approved call has done. */
export function redeemed(done: Redeemed): McpAnswer {
  if ("restored" in done) return contentAnswer(done.restored.data);
  if ("appended" in done) return contentAnswer(done.appended.data);
  if ("migrated" in done) return contentAnswer(done.migrated.data);
  return "merge" in done ? merged(done.merge) : written(done.answer);
}
