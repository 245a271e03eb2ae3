// Stored answers for repeated calls, inside the tenant's own database. An answer is written in the transaction of its
// mutation, so that both are committed or neither is.
import { type ReplayKeys, type StoredParts, writeStoredAnswer } from "../../stored_answer.ts";
import { piecesOf, probeOf, replayRows } from "../../../sql/service/replay_rows.ts";
import type { Connection } from "../../../engine/connection.ts";
import type { WireReplayed } from "./wire_call.ts";

/** Characters of one piece, because an answer may be longer than the engine allows a value to be. */
const PIECE_LENGTH = 4_000_000;
/** Expired pieces deleted at once. */
const PRUNED_AT_ONCE = 2000;

const FIND =
  "SELECT request_hash, answer FROM _service_meta_replay WHERE probe = ? AND key = ? AND expires_at > ? ORDER BY piece";

/** Finds the answer stored under any of the keys. */
export function findReplay(
  connection: Connection,
  { keys, nowMs }: ReplayKeys,
): { readonly found: WireReplayed; readonly text: string } | null {
  const matched: number[] = [];
  let text: string | null = null;
  for (const [index, { key, requestHash }] of keys.entries()) {
    const pieces = connection.internalRows(FIND, probeOf(key), key, nowMs);
    if (pieces.length === 0) continue;
    if (pieces[0]?.[0] !== requestHash) return { found: { k: "mismatch" }, text: "" };
    // The key is only noted; the answer is stored elsewhere.
    if (pieces[0]?.[1] === "") continue;
    matched.push(index);
    text ??= pieces.map((piece) => String(piece[1])).join("");
  }
  return text === null ? null : { found: { k: "replayed", length: text.length, matched }, text };
}

/**
 * Notes keys whose answers are stored elsewhere, so that no other call can use them. A key with an answer does not
 * change.
 */
export function noteReplay(connection: Connection, { keys, nowMs, expiresAtMs }: ReplayKeys): void {
  for (const { key, requestHash } of keys) {
    connection.internalRun(replayRows.forgetNote, probeOf(key), key, nowMs);
    connection.internalRun(replayRows.note, probeOf(key), key, requestHash, expiresAtMs, probeOf(key), key);
  }
}

/** Stores an answer under each key, in the open transaction. Expired answers under the same keys are deleted. */
export function storeReplay(
  connection: Connection,
  replay: ReplayKeys,
  parts: Omit<StoredParts, "context">,
): void {
  const answer = writeStoredAnswer({ context: replay.context, ...parts });
  for (const { key, requestHash } of replay.keys) {
    connection.internalRun(replayRows.forget, probeOf(key), key);
    let piece = 0;
    for (const text of piecesOf(answer, PIECE_LENGTH)) {
      connection.internalRun(
        replayRows.insert,
        probeOf(key),
        key,
        piece++,
        requestHash,
        text,
        replay.expiresAtMs,
      );
    }
  }
}

/** Stores the answer found under one key also under the call's other keys. */
export function joinReplay(connection: Connection, { keys }: ReplayKeys, matched: readonly number[]): void {
  const from = keys[matched[0] ?? -1];
  for (const [index, { key, requestHash }] of keys.entries()) {
    if (from === undefined || matched.includes(index)) continue;
    connection.internalRun(replayRows.forget, probeOf(key), key);
    connection.internalRun(replayRows.join, probeOf(key), key, requestHash, probeOf(from.key), from.key);
  }
}

/** Deletes expired answers, a bounded number at a time, the oldest first. */
export function pruneReplays(connection: Connection, nowMs: number): void {
  connection.internalRun(
    "DELETE FROM _service_meta_replay WHERE id IN (SELECT id FROM (SELECT id, expires_at FROM _service_meta_replay " +
      "ORDER BY id LIMIT ?) WHERE expires_at <= ?)",
    PRUNED_AT_ONCE,
    nowMs,
  );
}
