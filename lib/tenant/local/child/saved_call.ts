// One writing call behind its savepoint, in the transaction that is open.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { endingFailure, isUndone } from "../../calls/call_run.ts";
import { CarefulRun } from "../../calls/careful_run.ts";
import type { DeferredReferences } from "../../calls/deferred_references.ts";
import { runWork } from "../../calls/work.ts";
import { answerAsk, totalChanges } from "./answer_ask.ts";
import { watchDeferred } from "./deferred.ts";
import { FootprintRun, watchOf } from "./footprint_run.ts";
import type { Progress } from "./progress.ts";
import type { WireCall, WireOutcome } from "./protocol.ts";
import { recordCall } from "./record_call.ts";
import { type CallRun, outcomeOf, runCall } from "./run_call.ts";
import { storeCall } from "./store_call.ts";

/** The whole transaction was undone by one call (`ON CONFLICT ROLLBACK`, an out-of-memory error): run them one by one. */
export class GroupLost extends Error {}

/** What a call behind its savepoint did. */
export interface SavedRun {
  readonly outcome: WireOutcome;
  readonly text: string;
  readonly nothingKept: boolean;
}

/** What running a call behind its savepoint needs. */
export interface SavedCallOptions {
  readonly connection: Connection;
  readonly progress: Progress;
  /** Of the call in its frame. */
  readonly index: number;
  /** The transaction has no other call. */
  readonly alone: boolean;
}

/**
 * An atomic call is undone whole by a failure, the other keeps what ran before, and each of its statements leaves no
 * deferred reference broken, as if it had a commit of its own. A statement that demands ROLLBACK ends the transaction
 * itself: with company the group starts over; alone, what is to stay of the call runs once more. Throws `GroupLost`.
 */
export function runSaved(call: WireCall, { connection, progress, index, alone }: SavedCallOptions): SavedRun {
  const watch = call.footprint ? new FootprintRun(connection, call.footprint) : null;
  try {
    const { first, last } = runUntilItStands(call, { connection, progress, index, alone, watch });
    const failure = endingFailure(call, last, () => watch?.isExpected() !== false);
    const nothingStays = isUndone(failure, call);
    if (nothingStays) connection.internalRun("ROLLBACK TO call");
    connection.internalRun("RELEASE call");
    const run = failure === null ? last : endedRun({ ...last, failure }, nothingStays);
    recordCall(connection, call, run, first);
    return {
      outcome: outcomeOf(run, [first.rowsRead, first.rowsWritten]),
      text: run.text,
      nothingKept: failure !== null && run.results.length === 0,
    };
  } finally {
    watch?.close();
  }
}

function endedRun(run: CallRun, nothingStays: boolean): CallRun {
  return nothingStays ? { ...run, results: [], text: "", rowsWritten: 0 } : run;
}

type WatchedOptions = SavedCallOptions & { readonly watch: FootprintRun | null };

function runUntilItStands(call: WireCall, options: WatchedOptions): { first: CallRun; last: CallRun } {
  const { connection, alone, watch } = options;
  const single = call.statements.length === 1;
  connection.internalRun("SAVEPOINT call");
  const first = runOnce(call, options, single);
  let last = first;
  while (!connection.database.isTransaction) {
    if (!alone) throw new GroupLost();
    connection.internalRun("BEGIN IMMEDIATE");
    connection.internalRun("SAVEPOINT call");
    watch?.restart();
    if (call.level === "schema") connection.schemaChanged();
    const { failure } = last;
    const staying = call.statements.slice(0, call.atomic ? 0 : failure?.at ?? 0);
    const again = runOnce({ ...call, statements: staying }, options, single);
    last = again.failure === null ? { ...again, failure } : again;
  }
  return { first, last };
}

/** Up to the first failure. */
function runOnce(call: WireCall, options: WatchedOptions, single: boolean): CallRun {
  const { connection, progress, index, watch } = options;
  const deferred = single || call.atomic ? null : watchDeferred(connection, call);
  if (watch || deferred) return runCarefully(call, options, deferred);
  const guardStatement = <T>(work: () => T): T =>
    single ? undoing(connection, "call", work) : behindSavepoint(connection, work);
  const countWritten = () => totalChanges(connection);
  return runCall({ connection, progress, guardStatement, countWritten }, call, index);
}

function runCarefully(
  call: WireCall,
  { connection, progress, index, watch }: WatchedOptions,
  deferred: DeferredReferences | null,
): CallRun {
  const startedMs = systemClock.monotonicMs();
  let statement = 0;
  const own = storeCall(call);
  const run = new CarefulRun({
    call: own,
    count: own.statements.length,
    notRun: null,
    deferred,
    watch: watch && runWork(watchOf(watch), () => []),
  });
  const ran = runWork(
    run.run(),
    (ask) => answerAsk(connection, ask, () => progress.startStatement(index, statement++)),
  );
  if (connection.database.isTransaction) { for (const sql of run.closing) connection.internalRun(sql); }
  return {
    results: ran.results.map(({ json, rowsRead, rowsWritten }) =>
      [json.length, rowsRead, rowsWritten] as const
    ),
    text: ran.results.map(({ json }) => json).join(""),
    ms: Math.round((systemClock.monotonicMs() - startedMs) * 1000) / 1000,
    rowsRead: ran.work.rowsRead,
    rowsWritten: ran.rowsWritten,
    rows: ran.rows,
    failure: ran.failure,
  };
}

/** Runs work behind a savepoint of its own. */
function behindSavepoint<T>(connection: Connection, work: () => T): T {
  connection.internalRun("SAVEPOINT statement");
  try {
    return undoing(connection, "statement", work);
  } finally {
    if (connection.database.isTransaction) connection.internalRun("RELEASE statement");
  }
}

/** Rolls back to an open savepoint when the work fails, unless the engine has ended the transaction by itself. */
function undoing<T>(connection: Connection, savepoint: "call" | "statement", work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (connection.database.isTransaction) connection.internalRun(`ROLLBACK TO ${savepoint}`);
    throw error;
  }
}
