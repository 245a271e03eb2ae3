// The group commit: what is queued for one database runs as one transaction, each call behind a savepoint of its own,
// with its log and audit rows, and is answered after the commit has reached the disk.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { BrokenReference, defersReferences, watchDeferred } from "./deferred_references.ts";
import { dryRun } from "./dry_run.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { FootprintRun } from "./footprint_run.ts";
import { insertLogRows } from "./log_rows.ts";
import type { Progress } from "./progress.ts";
import { FRAME_BUDGET_MS, type WireCall, type WireOutcome } from "./protocol.ts";
import type { WireLogTable } from "./wire_log.ts";
import { recordCall } from "./record_call.ts";
import { findReplay, joinReplay } from "./replay.ts";
import { boundedRun, type CallScope, isUndone, outcomeOf, runCall } from "./run_call.ts";
import { behindSavepoint, undoing } from "./savepoints.ts";
import type { TenantFile } from "./tenant_file.ts";

export interface WriteGroup {
  readonly file: TenantFile;
  readonly calls: readonly WireCall[];
  readonly logRows: readonly WireLogTable[];
  readonly progress: Progress;
  /** Called with the outcomes before they are committed, and again with others when they had to be run anew. */
  readonly answer: (outcomes: readonly WireOutcome[], text: string) => void;
}

/** The whole transaction was undone by one call (`ON CONFLICT ROLLBACK`, an out-of-memory error): run them one by one. */
class GroupLost extends Error {}

/** Runs and commits the group. On return everything answered last is on the disk. */
export function writeGroup(group: WriteGroup): void {
  const [only] = group.calls;
  if (only?.dryRun) return answerDryRun(group, only);
  try {
    if (group.calls.length > 1 && mustRunAlone(group)) throw new GroupLost();
    commitTogether(group, group.calls, true);
  } catch (error) {
    if (only && group.calls.length === 1 && !(error instanceof GroupLost)) {
      endRefused(group, only, 0, error);
      return;
    }
    commitOneByOne(group);
  }
}

/** Nothing of it stays, so there is nothing to commit; it travels without log rows. */
function answerDryRun(group: WriteGroup, call: WireCall): void {
  try {
    const { outcome, text } = dryRun(group.file, call, group.progress);
    group.answer([outcome], text);
  } catch (error) {
    group.answer([failedCall(error)], "");
  }
}

/** Deferred constraints are judged at commit, for the whole transaction: such calls cannot share one. */
function mustRunAlone({ file, calls }: WriteGroup): boolean {
  if (calls.some((call) => call.foreignKeysOff)) return true;
  return defersReferences(file.writer());
}

/** What has run so far is answered before each commit, so that the service never misses a committed outcome. */
function commitOneByOne(group: WriteGroup): void {
  const outcomes: WireOutcome[] = [];
  let text = "";
  let logged = false;
  for (const [index, call] of group.calls.entries()) {
    const before = text;
    const answer = (own: readonly WireOutcome[], ownText: string) =>
      group.answer([...outcomes, ...own], before + ownText);
    try {
      const run = commitTogether({ ...group, answer }, [call], !logged, index);
      logged = true;
      outcomes.push(...run.outcomes);
      text += run.text;
    } catch (error) {
      outcomes.push(endRefused({ ...group, answer }, call, index, error));
    }
  }
}

function commitTogether(
  group: WriteGroup,
  calls: readonly WireCall[],
  withLogRows: boolean,
  firstIndex = 0,
): { outcomes: WireOutcome[]; text: string } {
  const connection = group.file.writer();
  const foreignKeysOff = calls.length === 1 && calls[0]?.foreignKeysOff === true;
  if (foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=OFF");
  try {
    connection.internalRun("BEGIN IMMEDIATE");
    const done = runAll(group, connection, calls, firstIndex);
    if (withLogRows) insertLogRows(connection, group.logRows);
    group.answer(done.outcomes, done.text);
    connection.internalRun("COMMIT");
    return done;
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
    if (foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=ON");
  }
}

function runAll(group: WriteGroup, connection: Connection, calls: readonly WireCall[], firstIndex: number) {
  const outcomes: WireOutcome[] = [];
  let text = "";
  const startedMs = systemClock.monotonicMs();
  let version = group.file.writerVersion();
  for (const [index, call] of calls.entries()) {
    if (index > 0 && systemClock.monotonicMs() - startedMs > FRAME_BUDGET_MS) break;
    // Before anything else: a repeated call is answered as it was, whatever the schema is by now.
    const kept = call.replay ? findReplay(connection, call.replay) : null;
    if (kept && call.replay) {
      if (kept.found.k === "replayed") joinReplay(connection, call.replay, kept.found.matched);
      outcomes.push(kept.found);
      text += kept.text;
      continue;
    }
    if (call.schemaVersion !== version) {
      outcomes.push({ k: "stale", v: version });
      continue;
    }
    // Nothing of this transaction is written yet: such a call travels alone.
    if (call.snapshot !== undefined) {
      group.progress.startStatement(firstIndex + index, 0);
      group.file.snapshot(call.snapshot);
    }
    const run = runSaved(group, connection, call, firstIndex + index, calls.length === 1);
    if (call.snapshot !== undefined && run.nothingKept) group.file.dropSnapshot(call.snapshot);
    text += run.text;
    outcomes.push(run.outcome);
    if (call.level === "schema") {
      // Statements that were compiled for a schema which is gone again are void.
      if (run.nothingKept) connection.schemaChanged();
      version = group.file.writerVersion();
    }
  }
  return { outcomes, text };
}

interface SavedRun {
  readonly outcome: WireOutcome;
  readonly text: string;
  readonly nothingKept: boolean;
}

/**
 * One call behind its savepoint: an atomic one is undone whole by a failure, the other keeps what ran before, and each
 * of its statements leaves no deferred reference broken, as if it had a commit of its own. A statement that demands
 * ROLLBACK ends the transaction itself: with company the group starts over; alone, what is to stay of the call runs
 * once more.
 */
function runSaved(
  group: WriteGroup,
  connection: Connection,
  call: WireCall,
  index: number,
  alone: boolean,
): SavedRun {
  const watch = call.footprint ? new FootprintRun(connection, call.footprint) : null;
  try {
    return runWatched(group, connection, call, { index, alone, watch });
  } finally {
    watch?.close();
  }
}

interface RunOptions {
  readonly index: number;
  readonly alone: boolean;
  readonly watch: FootprintRun | null;
}

function runWatched(
  group: WriteGroup,
  connection: Connection,
  call: WireCall,
  { index, alone, watch: footprint }: RunOptions,
): SavedRun {
  const single = call.statements.length === 1;
  const countWritten = () => Number(connection.internalRow("SELECT total_changes()")?.[0] ?? 0);
  const watch = () => single || call.atomic ? null : watchDeferred(connection, call);
  let deferred = watch();
  const judged = <T>(work: () => T): T => {
    const before = countWritten();
    const result = work();
    if (deferred !== null && countWritten() > before && deferred.raised()) throw new BrokenReference();
    return result;
  };
  const scope: CallScope = {
    ...{ connection, progress: group.progress, countWritten, watch: footprint },
    guardStatement: (work) =>
      single ? undoing(connection, "call", work) : behindSavepoint(connection, () => judged(work)),
  };
  connection.internalRun("SAVEPOINT call");
  const first = runCall(scope, call, index);
  let last = first;
  while (!connection.database.isTransaction) {
    if (!alone) throw new GroupLost();
    connection.internalRun("BEGIN IMMEDIATE");
    connection.internalRun("SAVEPOINT call");
    footprint?.restart();
    if (call.level === "schema") connection.schemaChanged();
    deferred = watch();
    const { failure } = last;
    const staying = call.statements.slice(0, call.atomic ? 0 : failure?.at ?? 0);
    const again = runCall(scope, { ...call, statements: staying }, index);
    last = again.failure === null ? { ...again, failure } : again;
  }
  const run = boundedRun(last, call, footprint);
  const nothingKept = isUndone(run, call);
  if (nothingKept) connection.internalRun("ROLLBACK TO call");
  connection.internalRun("RELEASE call");
  const kept = nothingKept ? { ...run, results: [], text: "", rowsWritten: 0 } : run;
  recordCall(connection, call, kept, first);
  return {
    outcome: outcomeOf(kept, [first.rowsRead, first.rowsWritten]),
    text: kept.text,
    nothingKept: run.failure !== null && kept.results.length === 0,
  };
}

/**
 * Answers the call whose commit failed. Which statement of an atomic one has broken a deferred reference a dry run tells,
 * and the answer stands without it should that not come to its end.
 */
function endRefused(group: WriteGroup, call: WireCall, index: number, error: unknown): WireOutcome {
  if (call.snapshot !== undefined) group.file.dropSnapshot(call.snapshot);
  const failed = failedCall(error);
  group.answer([failed], "");
  if (failed.f.kind !== "foreign_key_violation" || call.statements.length === 1) return failed;
  const outcome = { ...failed, at: breakingStatement(group, call, index) };
  group.answer([outcome], "");
  return outcome;
}

/** The first where the dry run does not tell. */
function breakingStatement(group: WriteGroup, call: WireCall, index: number): number {
  try {
    const { outcome } = dryRun(group.file, call, group.progress, index);
    return outcome.k === "failed" && outcome.f.kind === "foreign_key_violation" ? outcome.at : 0;
  } catch {
    return 0;
  }
}

function failedCall(error: unknown): Extract<WireOutcome, { k: "failed" }> {
  return { k: "failed", r: [], at: 0, f: engineFailure(error, null), ms: 0, w: [0, 0], unlogged: true };
}
