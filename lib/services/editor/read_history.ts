// What a person has run in a database, newest first, from its query log.
import { readQueryLog } from "../query/read_query_log.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { TABLE_MARK } from "../tables/browse_table.ts";
import { typedText } from "../query/page_text.ts";

/** A text that has run. */
export interface HistoryEntry {
  /** `qry_…`, as in the log. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** As typed, with placeholders; the log cuts long ones. */
  readonly sql: string;
  readonly ok: boolean;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly durationMs: number;
}

/** Rows of the log that are looked through. */
const LOOKED_AT = 200;
const SHOWN = 50;

/** Looks at tables, and plans, which are asked for by a button. */
function isOfPage(text: string): boolean {
  return text.endsWith(TABLE_MARK) || /^EXPLAIN QUERY PLAN /.test(text);
}

/** What the database's own reads for its pages leave behind, and a page of the same text, stand once. */
export async function readHistory(ctx: StatementsContext): Promise<HistoryEntry[]> {
  const { entries } = await readQueryLog(ctx, {
    sinceMs: null,
    untilMs: null,
    status: null,
    cursor: null,
    tokenId: ctx.tokenId,
    pageSize: LOOKED_AT,
  });
  const seen = new Set<string>();
  const history: HistoryEntry[] = [];
  for (const { id, ts, sql, status, rowsRead, rowsWritten, durationMs } of entries) {
    const text = typedText(sql);
    if (text === "" || seen.has(text) || isOfPage(text)) continue;
    seen.add(text);
    history.push({ id, at: ts, sql: text, ok: status === "ok", rowsRead, rowsWritten, durationMs });
    if (history.length === SHOWN) break;
  }
  return history;
}
