// Stage 8: the query log. Calls that reach the engine leave their row there (a mutation's in its own transaction);
// this keeps the rows of those that never did.
import { LOG_SQL_BYTES } from "../core/limits.ts";
import { newId } from "../core/ids.ts";
import type { LogIdentity, TenantDatabase } from "../tenant/tenant_store.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";

/** The part of the log row that is known before the call runs. */
export function identify(ctx: QueryContext, call: QueryCall): LogIdentity {
  const now = ctx.clock.now();
  return {
    id: newId("qry", now),
    ts: now,
    namespaceId: call.target.namespaceId,
    databaseId: call.target.databaseId,
    tokenId: call.tokenId,
    userId: call.userId,
    operation: call.operation,
    statementCount: call.statements.length,
    sql: logText(call),
  };
}

/** Keeps the row of a call that was turned away before it ran. */
export function recordRefusal(database: TenantDatabase, log: LogIdentity, errorKind: string): void {
  database.record({ ...log, status: "error", errorKind, rowsRead: 0, rowsWritten: 0, durationMs: 0 });
}

function logText(call: QueryCall): string {
  const text = call.statements.length === 1
    ? call.statements[0]?.sql ?? ""
    : call.statements.map((statement) => statement.sql).join(";\n");
  return cut(text);
}

/** At most `LOG_SQL_BYTES` of UTF-8, ending between two characters. */
function cut(text: string): string {
  if (text.length * 3 <= LOG_SQL_BYTES) return text;
  const bytes = new TextEncoder().encode(text.slice(0, LOG_SQL_BYTES));
  if (bytes.length <= LOG_SQL_BYTES) return text.slice(0, LOG_SQL_BYTES);
  let end = LOG_SQL_BYTES;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
