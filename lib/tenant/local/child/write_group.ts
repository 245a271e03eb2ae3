// The group commit: what is queued for one database runs as one transaction, each call behind a savepoint of its own,
// with its log and audit rows, and is answered after the commit has reached the disk.
import { systemClock } from "../../../core/clock.ts";
import type { Connection } from "../../../engine/connection.ts";
import { defersReferences } from "./deferred.ts";
import { undoneCall } from "./undone_call.ts";
import { engineFailure } from "../../../engine/engine_failure.ts";
import { insertLogRows } from "./log_rows.ts";
import type { Progress } from "./progress.ts";
import { FRAME_BUDGET_MS, type WireCall, type WireOutcome } from "./protocol.ts";
import type { WireLogTable } from "./wire_log.ts";
import { findReplay, joinReplay } from "./replay.ts";
import { GroupLost, runSaved } from "./saved_call.ts";
import type { TenantFile } from "./tenant_file.ts";

/** Calls that are committed together. */
export interface WriteGroup {
  readonly file: TenantFile;
  readonly calls: readonly WireCall[];
  readonly logRows: readonly WireLogTable[];
  readonly progress: Progress;
  /** Called with the outcomes before they are committed, and again with others when they had to be run anew. */
  readonly answer: (outcomes: readonly WireOutcome[], text: string) => void;
}

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
    const { outcome, text } = undoneCall(group.file, call, group.progress);
    group.answer([outcome], text);
  } catch (error) {
    group.answer([failedCall(error)], "");
  }
}

/** The engine checks deferred constraints at commit, for the whole transaction, so such calls cannot share one. */
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
    // Replay comes first: a repeated call gets its first answer, whatever the schema is by now.
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
    // The transaction has written nothing yet, because such a call travels alone.
    if (call.snapshot !== undefined) {
      group.progress.startStatement(firstIndex + index, 0);
      group.file.snapshot(call.snapshot);
    }
    const run = runSaved(call, {
      connection,
      progress: group.progress,
      index: firstIndex + index,
      alone: calls.length === 1,
    });
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
    const { outcome } = undoneCall(group.file, call, group.progress, index);
    return outcome.k === "failed" && outcome.f.kind === "foreign_key_violation" ? outcome.at : 0;
  } catch {
    return 0;
  }
}

function failedCall(error: unknown): Extract<WireOutcome, { k: "failed" }> {
  return { k: "failed", r: [], at: 0, f: engineFailure(error, null), ms: 0, w: [0, 0], unlogged: true };
}
