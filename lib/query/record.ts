// Stage "record": the query log. A call that reaches the engine leaves its row there (a mutation in its own transaction);
// this writes the row of one that did not.
import { type Caller, callerId } from "../access/caller.ts";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { Clock } from "../core/clock.ts";
import { LOG_SQL_BYTES } from "../core/limits.ts";
import { newId } from "../core/ids.ts";
import { logText } from "../core/plain_text.ts";
import { runsOf } from "../sql/words/param_sets.ts";
import type { LogIdentity, LogRow } from "../tenant/tenant_store.ts";
import type { QueryCall, StatementDatabase } from "./query_call.ts";
import type { StatementPass } from "./statement_stages.ts";
import { workOf } from "./store_call.ts";

/** The part of a call's log row that is known before it runs. */
export function identifyStatements(clock: Clock, call: QueryCall): LogIdentity {
  const { target: { namespaceId, databaseId }, tokenId, userId, operation } = call;
  const ts = clock.now();
  const id = newId("qry", ts);
  const statementCount = runsOf(call);
  const sql = logText(textOf(call));
  return { id, ts, namespaceId, databaseId, tokenId, userId, operation, statementCount, sql };
}

/** Work in a database that is no statement, such as an import. */
interface Work {
  readonly target: Pick<LogIdentity, "namespaceId" | "databaseId">;
  readonly operation: LogIdentity["operation"];
  /** Stands where statements have their text. */
  readonly what: string;
}

/** The same part for work of a caller. */
export function identifyWork(
  { clock, caller }: { readonly clock: Clock; readonly caller: Caller },
  { target: { namespaceId, databaseId }, operation, what }: Work,
): LogIdentity {
  const ts = clock.now();
  const work = { namespaceId, databaseId, operation, statementCount: 1, sql: logText(`-- ${what}`) };
  return { id: newId("qry", ts), ts, ...work, tokenId: callerId(caller), userId: null };
}

/** Failures over a key whose first call has its row. */
const UNRECORDED: ReadonlySet<ErrorCode> = new Set(["replay_mismatch", "replay_running"]);

/** Writes the row of a call that a stage has turned away before it ran, with what its preview has read. */
export function recordTurnedAway({ understood, stoppedBy }: StatementPass, error: unknown): void {
  const { call, database, log } = understood;
  // The log of endpoint calls has the refusals of published calls, where equal ones share a row.
  if (!(error instanceof AppError) || call.operation === "endpoint" || UNRECORDED.has(error.code)) return;
  if (stoppedBy === undefined) return recordRefusal(database, log, error.code);
  const { durationMs } = stoppedBy;
  recordEnd(database, log, { errorKind: error.code, ...workOf(stoppedBy), durationMs });
}

/** Writes the row of a call that never ran. */
export function recordRefusal(database: StatementDatabase, log: LogIdentity, errorKind: string): void {
  recordEnd(database, log, { errorKind, rowsRead: 0, rowsWritten: 0, durationMs: 0 });
}

/** How a call ended; `errorKind` null: it succeeded. */
export type CallEnd = Pick<LogRow, "errorKind" | "rowsRead" | "rowsWritten" | "durationMs">;

/**
 * Writes the row of a call that has changed nothing. A call that changes something writes its row in its own
 * transaction.
 */
export function recordEnd(database: StatementDatabase, log: LogIdentity, end: CallEnd): void {
  database.record({ ...log, status: end.errorKind === null ? "ok" : "error", ...end });
}

/** Stops where the row cuts it. */
function textOf({ statements }: QueryCall): string {
  let text = statements[0]?.sql ?? "";
  for (let at = 1; at < statements.length && text.length <= LOG_SQL_BYTES; at++) {
    text += `;\n${statements[at]?.sql}`;
  }
  return text;
}
