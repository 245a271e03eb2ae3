// Dry runs in an engine child: the call runs in a transaction that is always rolled back.
import { roundMs, systemClock } from "../../../core/clock.ts";
import { madeRoom } from "../../../engine/compiled_texts.ts";
import type { Connection } from "../../../engine/connection.ts";
import { type StatementTarget, statementTarget } from "../../../engine/statement_target.ts";
import { DryRun } from "../../calls/dry_run.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import { answerAsk, failureOf, storeCall, watchDeferred } from "./call_work.ts";
import { FootprintWatch } from "../../calls/footprint_watch.ts";
import { ChildNotes } from "./child_notes.ts";
import type { Progress } from "./progress.ts";
import type { WireCall, WireOutcome } from "./wire_call.ts";
import type { TenantFile } from "./tenant_file.ts";
import { runWork } from "../../../core/run_work.ts";

/** Of a statement that affects more rows than this none is shown, because their keys are held in memory. */
const MAX_PREVIEWED = 500_000;

/** The triggers that record rows may fail, which counts as a failure of the statement. */
function runOrFail(connection: Connection, run: DryRun, statements: readonly TenantStatement[]) {
  try {
    return runWork(run.run(), (ask) => answerAsk(connection, ask, () => {}));
  } catch (error) {
    return failureOf(error, connection, statements[run.at]?.sql ?? "");
  }
}

/** Null where the rows of a statement cannot be found, which is no failure of the statement. */
function targetOf(connection: Connection, statement: TenantStatement | undefined): StatementTarget | null {
  try {
    return statement ? statementTarget(connection, statement) : null;
  } catch {
    return null;
  }
}

interface Undone {
  readonly outcome: WireOutcome;
  readonly text: string;
}

/** Nothing of a dry run is left, so it runs once more where what others keep had left it no memory. */
function withRoom(run: () => Undone, mayRunAgain: () => boolean = () => true): Undone {
  const undone = run();
  const { outcome } = undone;
  return outcome.k === "failed" && mayRunAgain() && madeRoom(outcome.f) ? run() : undone;
}

/**
 * Runs the call's statements in order and rolls them back. All of them together have the time of one statement, because
 * they hold the write slot. `callIndex` is the call's position in its frame.
 */
export function dryRunCall(file: TenantFile, call: WireCall, progress: Progress, callIndex = 0): Undone {
  return withRoom(() => dryRunOnce(file, call, progress, callIndex));
}

function dryRunOnce(file: TenantFile, call: WireCall, progress: Progress, callIndex: number): Undone {
  const connection = file.writer();
  const startedMs = systemClock.monotonicMs();
  progress.startStatement(callIndex, 0);
  if (call.foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=OFF");
  try {
    connection.internalRun("BEGIN IMMEDIATE");
    const version = file.writerVersion();
    if (call.schemaVersion !== version) return { outcome: { k: "stale", v: version }, text: "" };
    return runWatched(connection, call, startedMs);
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
    if (call.foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=ON");
    // Statements that were compiled for a schema which is gone again are void.
    if (call.level === "schema") connection.schemaChanged();
  }
}

/** Runs a call of an open transaction and undoes it. */
export function dryRunInside(connection: Connection, call: WireCall, progress: Progress): Undone {
  // The engine may have ended the transaction with it.
  return withRoom(
    () => dryRunInsideOnce(connection, call, progress),
    () => connection.database.isTransaction,
  );
}

function dryRunInsideOnce(connection: Connection, call: WireCall, progress: Progress): Undone {
  const startedMs = systemClock.monotonicMs();
  progress.startStatement(0, 0);
  connection.internalRun("SAVEPOINT dry");
  try {
    return runWatched(connection, call, startedMs);
  } finally {
    if (connection.database.isTransaction) {
      connection.internalRun("ROLLBACK TO dry");
      connection.internalRun("RELEASE dry");
    }
    if (call.level === "schema") connection.schemaChanged();
  }
}

function runWatched(connection: Connection, call: WireCall, startedMs: number): Undone {
  connection.callBegins(startedMs);
  const { footprint: ask } = call;
  const notes = ask ? new ChildNotes(connection) : null;
  const own = storeCall(call);
  const run = new DryRun({
    call: own,
    count: own.statements.length,
    deferred: watchDeferred(connection, call),
    openWatch: ask && notes ? () => FootprintWatch.open(ask, notes) : null,
    targetOf: (index) => targetOf(connection, own.statements[index]),
    mostPreviewed: MAX_PREVIEWED,
  });
  try {
    const failure = runOrFail(connection, run, own.statements);
    const ms = roundMs(systemClock.monotonicMs() - startedMs);
    const { results, effects, at, rowsRead, footprint } = run;
    const p = footprint === null ? {} : { p: footprint };
    if (failure) {
      const e = effects.slice(0, at);
      return { outcome: { k: "failed", r: [], at, f: failure, ms, w: [rowsRead, 0], e, ...p }, text: "" };
    }
    const r = results.map(({ json, rowsRead }) => [json.length, rowsRead, 0] as const);
    const text = results.map(({ json }) => json).join("");
    return { outcome: { k: "ok", r, ms, e: effects, ...p }, text };
  } finally {
    notes?.close();
  }
}
