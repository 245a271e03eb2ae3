// What stays of a call beside its changes, in the transaction that is open: its kept answer, its log row, its audit row.
import type { Connection } from "../../../engine/connection.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import { loggedKind } from "../../logged_kind.ts";
import type { WireCall } from "./protocol.ts";
import { keepReplay } from "./replay.ts";
import type { CallRun } from "./run_call.ts";
import { startsOver } from "../../starts_over.ts";

/** `run` is what is kept; `work` counts the rows that are paid for, kept or not. */
export function recordCall(
  connection: Connection,
  call: WireCall,
  run: CallRun,
  work: Pick<CallRun, "rowsRead" | "rowsWritten">,
): void {
  if (call.replay && run.failure === null && call.failsWith === undefined) {
    keepReplay(connection, call.replay, {
      results: run.results,
      text: run.text,
      durationMs: run.ms,
      rowsReadBasis: "plan",
    });
  }
  if (!call.log || startsOver(call.affected, run.failure?.failure)) return;
  insertCallRow(connection, call.log, {
    errorKind: loggedKind(call, run.failure?.failure),
    rowsRead: work.rowsRead,
    rowsWritten: work.rowsWritten,
    ms: run.ms,
  });
  const nothingKept = run.failure !== null && run.results.length === 0;
  if (call.auditId !== undefined && call.auditTables !== undefined && !nothingKept) {
    insertAuditRow(connection, call.auditId, call.auditTables, call.log, run.rowsWritten);
  }
}
