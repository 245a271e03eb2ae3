// Runs the statements of one call on one connection and measures them. Transactions are the business of the groups.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { countSchemaRows } from "../../../engine/count_schema_rows.ts";
import { countReplaced } from "../../../engine/count_replaced.ts";
import { type EngineFailure, runFailure } from "../../../engine/engine_failure.ts";
import type { FootprintRun } from "./footprint_run.ts";
import type { Progress } from "./progress.ts";
import type { WireCall, WireOutcome, WireResult } from "./protocol.ts";
import { exceeds, ResultTooLarge } from "../../../engine/result_json.ts";
import { unlessUsedUp } from "../../../engine/used_up.ts";

export interface CallRun {
  readonly results: WireResult[];
  readonly text: string;
  readonly ms: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Rows that conflicts have removed beside, of a call that is bound to a number of rows. */
  readonly rowsReplaced: number;
  readonly failure: { readonly at: number; readonly failure: EngineFailure } | null;
}

/** What a call needs of its surroundings: the reader's group has no savepoints and writes nothing. */
export interface CallScope {
  readonly connection: Connection;
  readonly progress: Progress;
  /** Runs one statement so that its failure leaves nothing behind. */
  readonly guardStatement: <T>(work: () => T) => T;
  readonly countWritten: () => number;
  /** Takes down what the call does to rows. */
  readonly watch?: FootprintRun | null;
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
      const replaced = countReplaced(scope.connection, statement[3]?.replacing);
      const counted = countSchemaRows(scope.connection, statement[3]?.schemaRows);
      scope.watch?.begin(level, statement[3]?.schemaRows?.rows ?? null);
      let before = 0;
      const run = scope.guardStatement(() => {
        // Not before its savepoint: that makes a full-text index write what earlier statements have left in its memory.
        before = scope.countWritten();
        return scope.connection.run(level, sql, params, call, call.integersAsStrings);
      });
      scope.watch?.end();
      const changed = scope.countWritten() - before;
      const { written: made, removed } = counted(changed);
      const written = changed + made;
      rowsReplaced += replaced(changed) + removed;
      for (const { sql, params } of statement[3]?.after ?? []) {
        scope.connection.run("internal", sql, params, call, false);
      }
      const read = scope.connection.rowsRead(sql, run.rowCount, changed);
      results.push([run.json.length, read, written]);
      text += run.json;
      rowsRead += read;
      rowsWritten += written;
      if (exceeds(text, call.maxBytes)) throw new ResultTooLarge(`more than ${call.maxBytes} bytes`);
    } catch (error) {
      scope.watch?.undone();
      failure = { at: index, failure: failureOf(error, scope.connection, statement[0]) };
      break;
    }
  }
  const ms = round(systemClock.monotonicMs() - startedMs);
  return { results, text, ms, rowsRead, rowsWritten, rowsReplaced, failure };
}

/** A call that changed more or fewer rows than it may, or others than were approved, has failed at its last statement, also when one failed before. */
export function boundedRun(
  run: CallRun,
  { affected, atomic, statements }: WireCall,
  watch: FootprintRun | null,
): CallRun {
  if (run.failure !== null && atomic) return run;
  const rows = run.rowsWritten + run.rowsReplaced;
  const within = affected === undefined || (rows >= affected.min && rows <= affected.max);
  if (within && watch?.isExpected() !== false) return run;
  const failure = { kind: "affected", message: "", table: null, columns: [], affected: rows } as const;
  return { ...run, failure: { at: statements.length - 1, failure } };
}

/** An atomic call is undone whole by any failure, every call by the wrong number of rows. */
export function isUndone({ failure }: CallRun, call: WireCall): boolean {
  return failure !== null && (call.atomic || failure.failure.kind === "affected");
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

export function failureOf(error: unknown, connection: Connection, sql: string): EngineFailure {
  if (error instanceof ResultTooLarge) {
    return { kind: "result_too_large", message: error.message, table: null, columns: [] };
  }
  return unlessUsedUp(runFailure(error, connection.guard.denial, sql), connection, sql);
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
