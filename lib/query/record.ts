// Stage 8: the query log. Calls that reach the engine leave their row there (a mutation's in its own transaction);
// this keeps the rows of those that never did.
import { newId } from "../core/ids.ts";
import { logText } from "../core/plain_text.ts";
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
    sql: logText(textOf(call)),
  };
}

/** Keeps the row of a call that was turned away before it ran. */
export function recordRefusal(database: TenantDatabase, log: LogIdentity, errorKind: string): void {
  database.record({ ...log, status: "error", errorKind, rowsRead: 0, rowsWritten: 0, durationMs: 0 });
}

function textOf({ statements }: QueryCall): string {
  return statements.length === 1
    ? statements[0]?.sql ?? ""
    : statements.map((statement) => statement.sql).join(";\n");
}
