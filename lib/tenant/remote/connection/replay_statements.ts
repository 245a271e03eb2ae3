// The SQL of stored answers in a tenant's own database: the same rows as the embedded store writes.
import { type ReplayKeys, writeStoredAnswer } from "../../stored_answer.ts";
import { piecesOf, probeOf, replayRows } from "../../../sql/service/replay_rows.ts";
import type { ReplayFound } from "../../tenant_store.ts";
import { type CallRun, removedPart } from "../../calls/call_run.ts";
import type { HranaStep, HranaValue, StepResult } from "../hrana/hrana.ts";
import { hranaValue, stringOf } from "../hrana/remote_values.ts";
import { chain, type StepList } from "../hrana/step_list.ts";

/** Characters of one piece of a stored answer. */
const PIECE_LENGTH = 1_000_000;

/** Finds what is stored under any of the keys. A row without an answer only notes the key, which matters to other calls. */
export function findStep({ keys, nowMs }: ReplayKeys): HranaStep["stmt"] {
  const each = "(probe = ? AND key = ? AND expires_at > ? AND (request_hash <> ? OR answer <> ''))";
  const args = keys.flatMap(({ key, requestHash }) =>
    [probeOf(key), key, nowMs, requestHash].map(hranaValue)
  );
  const where = keys.map(() => each).join(" OR ");
  return {
    sql: `SELECT key, request_hash, answer FROM _service_meta_replay WHERE ${where} ORDER BY key, piece`,
    args,
  };
}

/** Fails (an integer overflow) where `findStep` finds something. */
export function freeStep(replay: ReplayKeys): { readonly sql: string; readonly args: readonly HranaValue[] } {
  const { sql, args = [] } = findStep(replay);
  return { sql: `SELECT CASE WHEN EXISTS (${sql}) THEN abs(-9223372036854775808) END`, args };
}

/** Reads the answer to `findStep`; null where nothing is stored. */
export function foundReplay({ keys }: ReplayKeys, step: StepResult): ReplayFound | null {
  if (!step?.ok) return null;
  const matched: number[] = [];
  let answer: string | null = null;
  for (const [at, { key, requestHash }] of keys.entries()) {
    const pieces = step.rows.filter((row) => stringOf(row[0]) === key);
    if (pieces.length === 0) continue;
    if (stringOf(pieces[0]?.[1]) !== requestHash) return { ok: "replay_mismatch" };
    matched.push(at);
    answer ??= pieces.map((row) => stringOf(row[2])).join("");
  }
  return answer === null ? null : { ok: "replayed", answer, matched };
}

/** Stores a call's answer under each of its keys. */
export function storeAnswer(
  list: StepList,
  replay: ReplayKeys,
  run: Pick<CallRun, "results" | "ms" | "rowsWritten"> & Partial<Pick<CallRun, "rows">>,
): void {
  const { results, ms, rowsWritten, rows = rowsWritten } = run;
  const answer = writeStoredAnswer({
    context: replay.context,
    results: results.map(({ json, rowsRead, rowsWritten }) => [json.length, rowsRead, rowsWritten]),
    text: results.map(({ json }) => json).join(""),
    durationMs: ms,
    rowsReadBasis: "engine",
    ...removedPart({ rows, rowsWritten }),
  });
  for (const { key, requestHash } of replay.keys) {
    chain(list, replayRows.forget, [probeOf(key), key]);
    let piece = 0;
    for (const text of piecesOf(answer, PIECE_LENGTH)) {
      chain(list, replayRows.insert, [probeOf(key), key, piece++, requestHash, text, replay.expiresAtMs]);
    }
  }
}

/** Notes keys whose answers are stored elsewhere, so that no other call uses them. A key that has an answer here stays as it is. */
export function noteKeys(list: StepList, { keys, nowMs, expiresAtMs }: ReplayKeys): void {
  for (const { key, requestHash } of keys) {
    chain(list, replayRows.forgetNote, [probeOf(key), key, nowMs]);
    chain(list, replayRows.note, [probeOf(key), key, requestHash, expiresAtMs, probeOf(key), key]);
  }
}

/** Stores what was found under one of a call's keys under its other keys too. */
export function joinKeys(list: StepList, { keys }: ReplayKeys, matched: readonly number[]): void {
  const from = keys[matched[0] ?? -1];
  for (const [at, { key, requestHash }] of keys.entries()) {
    if (from === undefined || matched.includes(at)) continue;
    chain(list, replayRows.forget, [probeOf(key), key]);
    chain(list, replayRows.join, [probeOf(key), key, requestHash, probeOf(from.key), from.key]);
  }
}
