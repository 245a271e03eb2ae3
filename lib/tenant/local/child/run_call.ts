// Runs the statements of one call on one connection and counts their rows. Groups open and end the transactions.
import { roundMs, systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { KEPT_LENGTH } from "../../../engine/rows_read/rows_read.ts";
import type { RowsBeside } from "../../../sql/grammar/uncounted_rows.ts";
import { PLAIN_ROWS } from "../../../sql/words/row_form.ts";
import { removedPart, type StatementsRun } from "../../calls/call_run.ts";
import { failureOf } from "./call_work.ts";
import { type RepeatedStatement, runSets } from "./run_sets.ts";
import { type StatementGuard, unguarded } from "./savepoints.ts";
import { setsJson } from "../../calls/sets_result.ts";
import type { StatementResult } from "../../tenant_store.ts";
import type { Progress } from "./progress.ts";
import { packResults, type WireCall, type WireOutcome, type WireStatementMore } from "./wire_call.ts";
import { exceeds, ResultTooLarge } from "../../../engine/result_json.ts";
import {
  type EngineCounts,
  nothingBeside,
  rowsBeside,
  textBefore,
  textBehind,
} from "../../calls/counted_rows.ts";

/** What a call gets from its group. */
export interface CallScope {
  readonly connection: Connection;
  readonly progress: Progress;
  /** Runs one statement so that its failure leaves no change. A group of reads only runs it. */
  readonly guardStatement: StatementGuard;
  /** Rows that the connection has written so far. */
  readonly countWritten: () => number;
}

/** Runs the statements in order, until one fails. */
export function runCall(scope: CallScope, call: WireCall, callIndex: number): StatementsRun {
  if (call.paramSets) return runSetsCall(scope, call, callIndex);
  const startedMs = systemClock.monotonicMs();
  scope.connection.callBegins(startedMs);
  const results: StatementResult[] = [];
  let text = "";
  let rowsRead = 0;
  let rowsWritten = 0;
  let rowsReplaced = 0;
  let failure: StatementsRun["failure"] = null;
  // Nothing of such a call stays where it fails, so a position that is some milliseconds old is good enough.
  const inMemory = call.atomic && call.statements.length > 1;
  if (inMemory) scope.progress.startSets(callIndex);
  const isGuarded = scope.guardStatement !== unguarded;
  let total = isGuarded ? 0 : scope.countWritten();
  for (const [index, statement] of call.statements.entries()) {
    if (inMemory) scope.progress.startSet(index);
    else scope.progress.startStatement(callIndex, index);
    try {
      const [sql, params, level] = statement;
      if (!isPlanned(call, index)) scope.connection.plan(level, sql);
      const countedBeside = countBeside(scope.connection, statement[3]);
      let changed = 0;
      const run = scope.guardStatement(() => {
        // Inside the savepoint: to open or to release one makes a full-text index write what it holds in memory.
        if (isGuarded) total = scope.countWritten();
        const ran = scope.connection.run(level, sql, params, call, call.rowForm);
        const before = total;
        total = scope.countWritten();
        changed = total - before;
        return ran;
      });
      const beside = countedBeside({ changes: changed });
      const written = changed + beside.written;
      rowsReplaced += beside.removed;
      for (const { sql, params } of statement[3]?.after ?? []) {
        scope.connection.run("internal", sql, params, call, PLAIN_ROWS);
        total = scope.countWritten();
      }
      const read = scope.connection.rowsRead(sql, run.rowCount, changed);
      results.push({ json: run.json, rowsRead: read, rowsWritten: written });
      rowsRead += read;
      rowsWritten += written;
      text += run.json;
      if (exceeds(text, call.maxBytes)) throw new ResultTooLarge(`more than ${call.maxBytes} bytes`);
    } catch (error) {
      failure = { at: index, failure: failureOf(error, scope.connection, statement[0]) };
      break;
    }
  }
  const ms = roundMs(systemClock.monotonicMs() - startedMs);
  return { results, ms, rowsRead, rowsWritten, rows: rowsWritten + rowsReplaced, failure };
}

/** Whether the statement repeats the one before it, and what is known of that is still kept. */
function isPlanned({ statements }: WireCall, index: number): boolean {
  const [sql = ""] = statements[index] ?? [];
  return sql === statements[index - 1]?.[0] && sql.length <= KEPT_LENGTH;
}

/** Runs the one statement of the call with all of its sets. */
function runSetsCall(
  { connection, progress, guardStatement }: CallScope,
  call: WireCall,
  at: number,
): StatementsRun {
  const startedMs = systemClock.monotonicMs();
  connection.callBegins(startedMs);
  const repeated = repeatedStatement(call);
  progress.startSets(at);
  const countedBeside = countBeside(connection, call.statements[0]?.[3]);
  const { part, rowsRead, changes, ownRows, failure } = runSets({
    connection,
    guard: guardStatement,
    begins: (set) => progress.startSet(set),
    failureOf: (error) => failureOf(error, connection, repeated.sql),
  }, repeated);
  const beside = countedBeside({ changes, ownOfSets: ownRows });
  const rowsWritten = changes + beside.written;
  const done = part.returned.length;
  const json = () => setsJson(part, call.level === "read");
  return {
    results: done === 0 ? [] : [{ json: json(), rowsRead, rowsWritten }],
    ms: roundMs(systemClock.monotonicMs() - startedMs),
    rowsRead,
    rowsWritten,
    rows: rowsWritten + beside.removed,
    failure: failure && { at: done, failure },
  };
}

/** The statement of a call in a frame, with its sets. */
function repeatedStatement(
  { statements, paramSets = [], maxRows, maxBytes, ...call }: WireCall,
): RepeatedStatement {
  const [sql = "", , level = "read"] = statements[0] ?? [];
  const { rowForm, rowidOf = null, setsMs = Infinity } = call;
  return { sql, level, paramSets, bounds: { maxRows, maxBytes }, rowForm, rowidOf, setsMs };
}

/** The outcome for the service, and the text that its results point into. `work` also counts rows that a failure has undone. */
export function wireOutcomeOf(
  run: StatementsRun,
  work: readonly [read: number, written: number],
): { readonly outcome: WireOutcome; readonly text: string } {
  const { results, failure, ms } = run;
  const { r, text } = packResults(results);
  const outcome: WireOutcome = failure
    ? { k: "failed", r, at: failure.at, f: failure.failure, ms, w: work }
    : { k: "ok", r, ms, ...removedPart(run) };
  return { outcome, text };
}

/**
 * Counts rows that the engine does not count as changes. Called before a statement; the function that it returns is
 * called right after the statement, with what the engine has counted.
 */
function countBeside(
  connection: Connection,
  more: WireStatementMore | undefined,
): (counts: EngineCounts) => RowsBeside {
  if (!more?.replacing && !more?.schemaRows) return () => nothingBeside;
  const count = (text: string | null) => text === null ? undefined : numbersOf(connection, more, text);
  const before = count(textBefore(more));
  return (counts) => rowsBeside(more, [before, count(textBehind(more))], counts);
}

function numbersOf(connection: Connection, more: WireStatementMore, text: string): number[] | undefined {
  try {
    const statement = connection.database.prepare(text);
    return Object.values(statement.get() ?? {}).map(Number);
  } catch (error) {
    // The rows of a virtual table whose own tables are missing cannot be counted.
    if (more.schemaRows) return undefined;
    throw error;
  }
}
