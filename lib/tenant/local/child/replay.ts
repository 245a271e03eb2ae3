// Stored answers for repeated calls, inside the tenant's own database. An answer is written in the transaction of its
// mutation, so that both are committed or neither is.
import { type ReplayKeys, type StoredParts, writeStoredAnswer } from "../../stored_answer.ts";
import type { Connection } from "../../../engine/connection.ts";
import type { WireReplayed } from "./wire_call.ts";

/** Characters of one piece, because an answer may be longer than the engine allows a value to be. */
const PIECE_LENGTH = 4_000_000;
/** Expired pieces deleted at once. */
const PRUNED_AT_ONCE = 2000;

const FIND =
  "SELECT request_hash, answer FROM _service_meta_replay WHERE probe = ? AND key = ? AND expires_at > ? ORDER BY piece";

const INSERT = "INSERT INTO _service_meta_replay VALUES (NULL,?,?,?,?,?,?)";
const FORGET = "DELETE FROM _service_meta_replay WHERE probe = ? AND key = ?";
const FORGET_NOTE = `${FORGET} AND (answer = '' OR expires_at <= ?)`;
const NOTE = "INSERT INTO _service_meta_replay SELECT NULL, ?, ?, 0, ?, '', ? " +
  "WHERE NOT EXISTS (SELECT 1 FROM _service_meta_replay WHERE probe = ? AND key = ?)";
const JOIN = "INSERT INTO _service_meta_replay SELECT NULL, ?, ?, piece, ?, answer, expires_at " +
  "FROM _service_meta_replay WHERE probe = ? AND key = ?";

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
    connection.internalRun(FORGET_NOTE, probeOf(key), key, nowMs);
    connection.internalRun(NOTE, probeOf(key), key, requestHash, expiresAtMs, probeOf(key), key);
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
    connection.internalRun(FORGET, probeOf(key), key);
    let end = 0;
    for (let piece = 0; end < answer.length; piece++) {
      const start = end;
      end = pieceEnd(answer, start);
      connection.internalRun(
        INSERT,
        probeOf(key),
        key,
        piece,
        requestHash,
        answer.slice(start, end),
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
    connection.internalRun(FORGET, probeOf(key), key);
    connection.internalRun(JOIN, probeOf(key), key, requestHash, probeOf(from.key), from.key);
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

/** Never cuts between the two halves of a surrogate pair, because the engine would replace each half. */
function pieceEnd(answer: string, start: number): number {
  const end = Math.min(answer.length, start + PIECE_LENGTH);
  const unit = answer.charCodeAt(end - 1);
  return end < answer.length && unit >= 0xd800 && unit <= 0xdbff ? end - 1 : end;
}

/** The first 52 bits of a key, which a small index holds; the rows themselves are stored in the order of time. */
function probeOf(key: string): number {
  return parseInt(key.slice(0, 13), 16);
}
