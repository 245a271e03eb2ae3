// Runs groups of calls of one database. A group of reads has one read transaction. A group of writes has one write
// transaction, in which each call has its own savepoint and its log and audit rows; its calls count as answered once the
// commit is on the disk.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { defersReferences } from "./call_work.ts";
import { commitToDisk } from "./commit_to_disk.ts";
import { dryRunCall } from "./dry_run.ts";
import { makingRoom, withMemory } from "../../../engine/compiled_texts.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { CommitChange } from "../../../sql/service/change_rows.ts";
import { lookupReads } from "../../../engine/key_lookup.ts";
import { insertChange, insertLogRows } from "./log_rows.ts";
import type { Progress } from "./progress.ts";
import { FRAME_BUDGET_MS, type WireLogTable } from "./protocol.ts";
import type { WireCall, WireOutcome } from "./wire_call.ts";
import { findReplay, joinReplay } from "./replay.ts";
import { runsOf } from "../../../sql/words/param_sets.ts";
import { unguarded } from "./savepoints.ts";
import { GroupLost, writeCall } from "./write_call.ts";
import type { TenantFile } from "./tenant_file.ts";
import { runCall, wireOutcomeOf } from "./run_call.ts";
import { dropSnapshot, takeSnapshot } from "./own_snapshots.ts";
import { asksForCheck } from "../../../sql/grammar/pragmas.ts";

/** A group of writes. */
export interface WriteGroup {
  readonly file: TenantFile;
  readonly calls: readonly WireCall[];
  readonly logRows: readonly WireLogTable[];
  readonly progress: Progress;
  /** Called with the outcomes before each commit, and again if other outcomes take their place. */
  readonly answer: (outcomes: readonly WireOutcome[], text: string) => void;
}

/** Runs and commits the group. On return, the outcomes answered last are on the disk. */
export function writeGroup(group: WriteGroup): void {
  const [only] = group.calls;
  if (only?.dryRun) return answerDryRun(group, only);
  try {
    if (group.calls.length > 1 && mustRunAlone(group)) throw new GroupLost();
    withRoomFor(only)(() => commitTogether(group));
  } catch (error) {
    if (only && group.calls.length === 1 && !(error instanceof GroupLost)) {
      endRefused(group, only, 0, error);
      return;
    }
    commitOneByOne(group);
  }
}

/** A dry run commits nothing, and its group has no log rows. */
function answerDryRun(group: WriteGroup, call: WireCall): void {
  try {
    const { outcome, text } = dryRunCall(group.file, call, group.progress);
    group.answer([outcome], text);
  } catch (error) {
    group.answer([failedCall(error)], "");
  }
}

/** The engine checks deferred references at the commit, for the whole transaction, so such calls cannot share one. */
function mustRunAlone({ file, calls }: WriteGroup): boolean {
  if (calls.some((call) => call.foreignKeysOff)) return true;
  return defersReferences(file.writer());
}

/** Answers all outcomes so far before each commit, so that the service has every committed outcome. */
function commitOneByOne(group: WriteGroup): void {
  const outcomes: WireOutcome[] = [];
  let text = "";
  let logged = false;
  for (const [index, call] of group.calls.entries()) {
    const before = text;
    const answer = (own: readonly WireOutcome[], ownText: string) =>
      group.answer([...outcomes, ...own], before + ownText);
    try {
      const run = withRoomFor(call)(() =>
        commitTogether({ ...group, calls: [call], logRows: logged ? [] : group.logRows, answer }, index)
      );
      logged = true;
      outcomes.push(...run.outcomes);
      text += run.text;
    } catch (error) {
      outcomes.push(endRefused({ ...group, answer }, call, index, error));
    }
  }
}

/** What was done before a failure is undone, but for a snapshot that was taken. */
function withRoomFor(call: WireCall | undefined): typeof withMemory {
  return call?.snapshot === undefined ? withMemory : makingRoom;
}

/** `firstIndex`: of its first call, among those that are served. */
function commitTogether(group: WriteGroup, firstIndex = 0): { outcomes: WireOutcome[]; text: string } {
  const { calls } = group;
  const connection = group.file.writer();
  const foreignKeysOff = calls.length === 1 && calls[0]?.foreignKeysOff === true;
  if (foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=OFF");
  try {
    connection.internalRun("BEGIN IMMEDIATE");
    const change = new CommitChange();
    const done = runAll(group, connection, change, firstIndex);
    insertLogRows(connection, group.logRows);
    insertChange(connection, change);
    group.answer(done.outcomes, done.text);
    commitToDisk(connection);
    return done;
  } finally {
    if (connection.database.isTransaction) connection.internalRun("ROLLBACK");
    if (foreignKeysOff) connection.database.exec("PRAGMA foreign_keys=ON");
  }
}

function runAll(group: WriteGroup, connection: Connection, change: CommitChange, firstIndex: number) {
  const { calls } = group;
  const outcomes: WireOutcome[] = [];
  let text = "";
  const startedMs = systemClock.monotonicMs();
  let version = group.file.writerVersion();
  for (const [index, call] of calls.entries()) {
    if (index > 0 && systemClock.monotonicMs() - startedMs > FRAME_BUDGET_MS) break;
    // Replay comes first: a repeated call gets its stored answer, even after a change of the schema.
    const replay = call.replay ? findReplay(connection, call.replay) : null;
    if (replay && call.replay) {
      if (replay.found.k === "replayed") joinReplay(connection, call.replay, replay.found.matched);
      outcomes.push(replay.found);
      text += replay.text;
      continue;
    }
    if (call.schemaVersion !== version) {
      outcomes.push({ k: "stale", v: version });
      continue;
    }
    // The transaction has written nothing yet, because such a call travels alone.
    if (call.snapshot !== undefined) {
      group.progress.startStatement(firstIndex + index, 0);
      takeSnapshot(group.file, call.snapshot, call.early);
    }
    const run = writeCall(call, {
      connection,
      progress: group.progress,
      index: firstIndex + index,
      alone: calls.length === 1,
      change,
    });
    if (call.snapshot !== undefined && run.leftNothing) dropSnapshot(group.file, call.snapshot);
    text += run.text;
    outcomes.push(run.outcome);
    if (call.level === "schema") {
      // Statements may have been compiled for a schema that was rolled back.
      if (run.leftNothing) connection.schemaChanged();
      version = group.file.writerVersion();
    }
  }
  return { outcomes, text };
}

/**
 * Answers a call whose commit failed. Where a deferred reference is broken, a dry run then finds the statement that broke
 * it; the first answer stands if the child ends during the dry run.
 */
function endRefused(group: WriteGroup, call: WireCall, index: number, error: unknown): WireOutcome {
  if (call.snapshot !== undefined) dropSnapshot(group.file, call.snapshot);
  const failed = failedCall(error);
  group.answer([failed], "");
  if (failed.f.kind !== "foreign_key_violation" || runsOf(call) === 1) return failed;
  const outcome = { ...failed, at: breakingStatement(group, call, index) };
  group.answer([outcome], "");
  return outcome;
}

/** Position of the statement that breaks a deferred reference; 0 where the dry run does not find it. */
function breakingStatement(group: WriteGroup, call: WireCall, index: number): number {
  try {
    const { outcome } = dryRunCall(group.file, call, group.progress, index);
    return outcome.k === "failed" && outcome.f.kind === "foreign_key_violation" ? outcome.at : 0;
  } catch {
    return 0;
  }
}

function failedCall(error: unknown): Extract<WireOutcome, { k: "failed" }> {
  return { k: "failed", r: [], at: 0, f: engineFailure(error, null), ms: 0, w: [0, 0], unlogged: true };
}

/** Characters of a list's result up to which the service may read the next ones. */
const SHORT_RESULT = 64 * 1024;

/** Says of a look-up that it ends by itself, and what it reads: the next ones need no child. */
function withProof(connection: Connection, call: WireCall, outcome: WireOutcome): WireOutcome {
  const [one, ...others] = call.statements;
  if (outcome.k !== "ok" || one === undefined || others.length > 0 || call.paramSets) return outcome;
  const reads = lookupReads(connection, { sql: one[0], params: one[1] });
  if (reads === null || (reads[0] > 1 && (outcome.r[0]?.[0] ?? 0) > SHORT_RESULT)) return outcome;
  return { ...outcome, l: reads };
}

/** The texts that a call runs, each with one set of values; a call with many sets has none that ends soon. */
function readsOf({ statements, paramSets }: WireCall): string[] {
  return paramSets ? [""] : statements.map(([sql]) => sql);
}

/**
 * Outcomes of the calls that ran, in order; those missing at the end were not started. Null: none, because they would keep
 * writers out of a file at rest.
 */
export function readGroup(
  file: TenantFile,
  calls: readonly WireCall[],
  progress: Progress,
): { outcomes: WireOutcome[]; text: string } | null {
  if (calls.some((call) => readsOf(call).some(asksForCheck))) file.close();
  const connection = file.briefReader();
  const outcomes: WireOutcome[] = [];
  let text = "";
  const startedMs = systemClock.monotonicMs();
  connection.internalRun("BEGIN");
  try {
    const version = file.readerVersion();
    if (!calls.every((call) => call.awake === true || file.mayRead(readsOf(call)))) return null;
    const scope = { connection, progress, guardStatement: unguarded, countWritten: () => 0 };
    file.withSharedFacts(() => {
      for (const [index, call] of calls.entries()) {
        if (index > 0 && systemClock.monotonicMs() - startedMs > FRAME_BUDGET_MS) break;
        const isForVersion = call.schemaVersion === version;
        if (!isForVersion && (call.schema === undefined || call.schema !== file.readerSchema)) {
          outcomes.push({ k: "stale", v: version, schema: file.readerSchema });
          continue;
        }
        const run = runCall(scope, call, index);
        const { outcome, text: own } = wireOutcomeOf(run, [run.rowsRead, 0]);
        text += own;
        const told = isForVersion || outcome.k !== "ok" ? outcome : { ...outcome, v: version };
        outcomes.push(index === 0 ? withProof(connection, call, told) : told);
      }
    });
  } finally {
    if (connection.database.isTransaction) connection.internalRun("COMMIT");
  }
  return { outcomes, text };
}
