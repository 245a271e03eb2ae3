// Runs one writing call behind its savepoint, in the group's transaction, and writes the records that it leaves: its
// stored answer, log row and audit row.
import { roundMs, systemClock } from "../../../core/clock.ts";
import { madeRoom } from "../../../engine/compiled_texts.ts";
import type { Connection } from "../../../engine/connection.ts";
import {
  committedRun,
  endingFailure,
  isUndone,
  removedPart,
  type StatementsRun,
} from "../../calls/call_run.ts";
import { CarefulRun } from "../../calls/careful_run.ts";
import type { CommitChange } from "../../../sql/service/change_rows.ts";
import type { DeferredReferences } from "../../calls/deferred_references.ts";
import { FootprintWatch } from "../../calls/footprint_watch.ts";
import { MigrationWatch } from "../../calls/migration_watch.ts";
import { takesValues } from "../../calls/returned_rows.ts";
import type { Work } from "../../calls/work.ts";
import { answerAsk, hasVirtualTables, storeCall, watchDeferred } from "./call_work.ts";
import { ChildNotes } from "./child_notes.ts";
import type { Progress } from "./progress.ts";
import type { WireCall, WireOutcome } from "./wire_call.ts";
import { narrowForSchema } from "./page_cache.ts";
import { runCall, wireOutcomeOf } from "./run_call.ts";
import { behindSavepoint, type StatementGuard, undoing, unguarded } from "./savepoints.ts";
import { firstRuns, runsOf } from "../../../sql/words/param_sets.ts";
import { insertAuditRow, insertCallRow } from "./log_rows.ts";
import { changeThatStays, recordsOf } from "../../call_records.ts";
import { storeReplay } from "./replay.ts";
import { runWork } from "../../../core/run_work.ts";

/** One call undid the whole transaction (`ON CONFLICT ROLLBACK`, no memory), so the group's calls run one by one. */
export class GroupLost extends Error {
  /** `run`: what the call has done until then, all of which is undone. */
  constructor(readonly run: StatementsRun | null = null) {
    super();
  }
}

/** The outcome of a writing call. */
export interface WrittenCall {
  readonly outcome: WireOutcome;
  readonly text: string;
  /** No change of the call stays. */
  readonly leftNothing: boolean;
}

/** What a writing call gets from its group. */
export interface WriteCallOptions {
  readonly connection: Connection;
  readonly progress: Progress;
  /** Position of the call in its frame. */
  readonly index: number;
  /** The transaction has no other call. */
  readonly alone: boolean;
  /** What the transaction has changed; a call without an audit row of its own adds nothing. */
  readonly change: CommitChange;
  /** The transaction goes on after the call, so references that it breaks may be mended before the commit. */
  readonly goesOn?: boolean;
}

/**
 * Runs a writing call. A failure undoes an atomic call whole. Of any other call, the statements before the failure stay,
 * and each of its statements must leave no deferred reference broken, as if it were committed by itself. A statement
 * with `ROLLBACK` as its conflict clause ends the transaction: beside other calls, this throws `GroupLost`; alone, the
 * statements that stay run once more.
 */
export function writeCall(
  call: WireCall,
  options: WriteCallOptions,
): WrittenCall {
  const { connection } = options;
  if (call.level === "schema") narrowForSchema(connection);
  const notes = call.footprint ? new ChildNotes(connection) : null;
  try {
    const watch = call.footprint && notes ? atOnce(FootprintWatch.open(call.footprint, notes)) : null;
    const { first, last } = runInTransaction(call, { ...options, watch });
    const failure = endingFailure(call, last, () => watch === null || atOnce(watch.isExpected()));
    const nothingStays = isUndone(failure, call);
    if (nothingStays) connection.internalRun("ROLLBACK TO call");
    connection.internalRun("RELEASE call");
    const run = failure === null ? last : committedRun({ ...last, failure }, nothingStays);
    recordCall(options, call, run, first);
    return {
      ...wireOutcomeOf(run, [first.rowsRead, first.rowsWritten]),
      leftNothing: failure !== null && run.results.length === 0,
    };
  } finally {
    notes?.close();
  }
}

type WatchedOptions = WriteCallOptions & { readonly watch: FootprintWatch | null };

/**
 * Runs again what stays of a call that has ended its transaction, until the transaction is still open at the end; and once
 * more the whole call, of which nothing is left, where what others keep had left it no memory.
 */
function runInTransaction(
  call: WireCall,
  options: WatchedOptions,
): { first: StatementsRun; last: StatementsRun } {
  const { connection, alone } = options;
  const single = runsOf(call) === 1;
  connection.internalRun("SAVEPOINT call");
  let first = runOnce(call, options, single);
  const mayStartOver = alone || connection.database.isTransaction;
  if (mayStartOver && madeRoom(first.failure?.failure)) {
    startOver(call, options);
    first = runOnce(call, options, single);
  }
  let last = first;
  while (!connection.database.isTransaction) {
    if (!alone) throw new GroupLost(committedRun(first, true));
    startOver(call, options);
    const { failure } = last;
    const staying = firstRuns(call, call.atomic ? 0 : failure?.at ?? 0);
    const again = runOnce(staying, options, single);
    last = again.failure === null ? { ...again, failure } : again;
  }
  return { first, last };
}

/** Leaves nothing of what the call has done, and its savepoint open. */
function startOver({ level }: WireCall, { connection, watch }: WatchedOptions): void {
  if (connection.database.isTransaction) connection.internalRun("ROLLBACK TO call");
  else {
    connection.internalRun("BEGIN IMMEDIATE");
    connection.internalRun("SAVEPOINT call");
  }
  watch?.restart();
  if (level === "schema") connection.schemaChanged();
}

/** For work that asks nothing, as that on notes of this child. */
function atOnce<T>(work: Work<T>): T {
  return runWork(work, () => []);
}

function runOnce(call: WireCall, options: WatchedOptions, single: boolean): StatementsRun {
  const { connection, progress, index, watch } = options;
  const checksEach = !single && !call.atomic && !options.goesOn;
  const deferred = checksEach ? watchDeferred(connection, call) : null;
  const takes = takesValues(call.statements.map(([, , , more = {}]) => more));
  if (watch || deferred || takes || call.migration) return runCarefully(call, options, deferred);
  const guardStatement = statementGuard(call, connection, single);
  const countWritten = () => connection.figures.total();
  return runCall({ connection, progress, guardStatement, countWritten }, call, index);
}

/**
 * Any failure undoes an atomic call whole, so its statements need no savepoints of their own. Where there is a virtual
 * table they have them all the same: a full-text index writes at each what it holds in memory, which its rows are
 * counted by.
 */
function statementGuard(
  call: WireCall,
  connection: Connection,
  single: boolean,
): StatementGuard {
  if (single) return (work) => undoing(connection, "call", work);
  const needsNone = call.atomic && call.level === "write" && !hasVirtualTables(connection);
  return needsNone ? unguarded : (work) => behindSavepoint(connection, work);
}

/** Runs a call whose changes are recorded, whose deferred references are counted, or whose statements take values. */
function runCarefully(
  call: WireCall,
  { connection, progress, index, watch }: WatchedOptions,
  deferred: DeferredReferences | null,
): StatementsRun {
  const startedMs = systemClock.monotonicMs();
  let run = 0;
  const begins = () => call.paramSets ? progress.startSet(run++) : progress.startStatement(index, run++);
  if (call.paramSets) progress.startSets(index);
  // What is counted before the first statement has the bound of a statement.
  if (call.migration) progress.startStatement(index, 0);
  const leftMs = () => (call.setsMs ?? Infinity) - (systemClock.monotonicMs() - startedMs);
  const own = storeCall(call);
  const careful = new CarefulRun({
    call: own,
    count: own.statements.length,
    notRun: null,
    deferred,
    watch,
    migration: call.migration ? new MigrationWatch(call.migration, call) : null,
  });
  const ran = runWork(
    careful.run(),
    (ask) => answerAsk(connection, ask, begins, leftMs()),
  );
  if (connection.database.isTransaction) { for (const sql of careful.closing) connection.internalRun(sql); }
  return {
    results: ran.results,
    ms: roundMs(systemClock.monotonicMs() - startedMs),
    rowsRead: ran.work.rowsRead,
    rowsWritten: ran.rowsWritten,
    rows: ran.rows,
    failure: ran.failure,
  };
}

/** Writes the call's records. `run` is what is committed; `work` counts the billed rows, committed or not. */
function recordCall(
  { connection, change }: WriteCallOptions,
  call: WireCall,
  run: StatementsRun,
  work: Pick<StatementsRun, "rowsRead" | "rowsWritten">,
): void {
  const failure = run.failure?.failure;
  const records = recordsOf(call, failure, run.results.length);
  if (call.replay && records.answer) {
    storeReplay(connection, call.replay, {
      results: run.results.map(({ json, rowsRead, rowsWritten }) => [json.length, rowsRead, rowsWritten]),
      text: run.results.map(({ json }) => json).join(""),
      durationMs: run.ms,
      rowsReadBasis: "plan",
      ...removedPart(run),
    });
  }
  if (!call.log || records.log === null) return;
  insertCallRow(connection, call.log, {
    errorKind: records.log.errorKind,
    rowsRead: work.rowsRead,
    rowsWritten: work.rowsWritten,
    ms: roundMs(run.ms + (call.stoppedMs ?? 0)),
  });
  if (call.auditId !== undefined && call.auditTables !== undefined && records.audit) {
    const all = { tables: call.auditTables, kinds: call.changeKinds ?? 0 };
    const changed = changeThatStays(call, all, { failure, results: run.results.length });
    if (changed === null) return;
    insertAuditRow(connection, call.auditId, changed.tables, call.log, run.rowsWritten);
    change.add({ ...changed, rows: run.rowsWritten, at: Number(call.log[1]) });
  }
}
