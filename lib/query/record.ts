// Stage "record": the query log. A call that reaches the engine leaves its row there (a mutation in its own transaction);
// this writes the row of one that did not.
import { AppError, type ErrorCode } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { logText } from "../core/plain_text.ts";
import type { LogIdentity, TenantDatabase } from "../tenant/tenant_store.ts";
import type { QueryCall, QueryContext } from "./query_call.ts";
import type { StatementPass } from "./statement_stages.ts";

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

/** A repetition has its row already. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set(["replay_mismatch", "replay_running"]);

/** Writes the row of a call that a stage has turned away before it ran. */
export function recordTurnedAway({ understood }: StatementPass, error: unknown): void {
  const { call, database, log } = understood;
  // A published call that is turned away stands in the log of calls, where equal ones share a row.
  if (!(error instanceof AppError) || call.operation === "endpoint" || UNRECORDED.has(error.code)) return;
  recordRefusal(database, log, error.code);
}

/** Writes the row of a call that never ran. */
export function recordRefusal(database: TenantDatabase, log: LogIdentity, errorKind: string): void {
  database.record({ ...log, status: "error", errorKind, rowsRead: 0, rowsWritten: 0, durationMs: 0 });
}

function textOf({ statements }: QueryCall): string {
  return statements.length === 1
    ? statements[0]?.sql ?? ""
    : statements.map((statement) => statement.sql).join(";\n");
}
