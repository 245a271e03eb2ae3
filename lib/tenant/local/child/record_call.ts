// Writes a call's records in the open transaction: its stored answer, log row and audit row.
import type { Connection } from "../../../engine/connection.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import { recordsOf } from "../../call_records.ts";
import type { WireCall } from "./protocol.ts";
import { keepReplay } from "./replay.ts";
import type { CallRun } from "./run_call.ts";

/** Writes the records. `run` is what is committed; `work` counts the billed rows, committed or not. */
export function recordCall(
  connection: Connection,
  call: WireCall,
  run: CallRun,
  work: Pick<CallRun, "rowsRead" | "rowsWritten">,
): void {
  const records = recordsOf(call, run.failure?.failure, run.results.length);
  if (call.replay && records.answer) {
    keepReplay(connection, call.replay, {
      results: run.results,
      text: run.text,
      durationMs: run.ms,
      rowsReadBasis: "plan",
    });
  }
  if (!call.log || records.log === null) return;
  insertCallRow(connection, call.log, {
    errorKind: records.log.errorKind,
    rowsRead: work.rowsRead,
    rowsWritten: work.rowsWritten,
    ms: run.ms,
  });
  if (call.auditId !== undefined && call.auditTables !== undefined && records.audit) {
    insertAuditRow(connection, call.auditId, call.auditTables, call.log, run.rowsWritten);
  }
}
