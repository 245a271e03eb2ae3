// Runs the statements of one call on one connection and measures them. Transactions are the business of the groups.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { PLAIN_ROWS } from "../../../sql/row_form.ts";
import type { CallFailure } from "../../calls/call_run.ts";
import { failureOf } from "./answer_ask.ts";
import { countBeside } from "./count_beside.ts";
import type { Progress } from "./progress.ts";
import type { WireCall, WireOutcome, WireResult } from "./protocol.ts";
import { exceeds, ResultTooLarge } from "../../../engine/result_json.ts";

/** What the statements of a call did. */
export interface CallRun {
  readonly results: WireResult[];
  readonly text: string;
  readonly ms: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Changed, and removed beside. */
  readonly rows: number;
  readonly failure: CallFailure | null;
}

/** What a call needs of its surroundings: the reader's group has no savepoints and writes nothing. */
export interface CallScope {
  readonly connection: Connection;
  readonly progress: Progress;
  /** Runs one statement so that its failure leaves nothing behind. */
  readonly guardStatement: <T>(work: () => T) => T;
  readonly countWritten: () => number;
}

/** Runs until the first failure. */
export function runCall(scope: CallScope, call: WireCall, callIndex: number): CallRun {
  const startedMs = systemClock.monotonicMs();
  const results: WireResult[] = [];
  let text = "";
  let rowsRead = 0;
  let rowsWritten = 0;
  let rowsReplaced = 0;
  let failure: CallRun["failure"] = null;
  for (const [index, statement] of call.statements.entries()) {
    scope.progress.startStatement(callIndex, index);
    try {
      const [sql, params, level] = statement;
      const countedBeside = countBeside(scope.connection, statement[3]);
      let before = 0;
      const run = scope.guardStatement(() => {
        // Not before its savepoint: that makes a full-text index write what earlier statements have left in its memory.
        before = scope.countWritten();
        return scope.connection.run(level, sql, params, call, call.rowForm);
      });
      const changed = scope.countWritten() - before;
      const beside = countedBeside(changed);
      const written = changed + beside.written;
      rowsReplaced += beside.removed;
      for (const { sql, params } of statement[3]?.after ?? []) {
        scope.connection.run("internal", sql, params, call, PLAIN_ROWS);
      }
      const read = scope.connection.rowsRead(sql, run.rowCount, changed);
      results.push([run.json.length, read, written]);
      text += run.json;
      rowsRead += read;
      rowsWritten += written;
      if (exceeds(text, call.maxBytes)) throw new ResultTooLarge(`more than ${call.maxBytes} bytes`);
    } catch (error) {
      failure = { at: index, failure: failureOf(error, scope.connection, statement[0]) };
      break;
    }
  }
  const ms = round(systemClock.monotonicMs() - startedMs);
  return { results, text, ms, rowsRead, rowsWritten, rows: rowsWritten + rowsReplaced, failure };
}

/** What the service is told; `work` counts what a failure has undone as well. */
export function outcomeOf(
  { results, failure, ms }: CallRun,
  work: readonly [read: number, written: number],
): WireOutcome {
  return failure
    ? { k: "failed", r: results, at: failure.at, f: failure.failure, ms, w: work }
    : { k: "ok", r: results, ms };
}

/** The failure behind an error of the engine. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
