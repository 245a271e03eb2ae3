// Answers kept for repeated calls, inside the tenant's own database: written in the transaction of the mutation that they
// answer, so that a call and the memory of it are there together or not at all.
import { type KeptParts, writeKeptAnswer } from "../../kept_answer.ts";
import type { Connection } from "./connection.ts";
import type { WireReplay, WireReplayed } from "./protocol.ts";

/** Characters of one piece: an answer may be longer than the engine lets a value be. */
const PIECE_LENGTH = 4_000_000;
/** Expired pieces deleted at once. */
const PRUNED_AT_ONCE = 2000;

const FIND =
  "SELECT request_hash, answer FROM _service_meta_replay WHERE key = ? AND expires_at > ? ORDER BY piece";

/** What is kept under any of the keys. */
export function findReplay(
  connection: Connection,
  { keys, nowMs }: WireReplay,
): { readonly found: WireReplayed; readonly text: string } | null {
  const matched: number[] = [];
  let text: string | null = null;
  for (const [index, { key, requestHash }] of keys.entries()) {
    const pieces = connection.internalRows(FIND, key, nowMs);
    if (pieces.length === 0) continue;
    if (pieces[0]?.[0] !== requestHash) return { found: { k: "mismatch" }, text: "" };
    matched.push(index);
    text ??= pieces.map((piece) => String(piece[1])).join("");
  }
  return text === null ? null : { found: { k: "replayed", length: text.length, matched }, text };
}

/** Keeps an answer under each key, in the transaction that is open. Expired ones under the same key go. */
export function keepReplay(
  connection: Connection,
  replay: WireReplay,
  parts: Omit<KeptParts, "context">,
): void {
  const answer = writeKeptAnswer({ context: replay.context, ...parts });
  for (const { key, requestHash } of replay.keys) {
    connection.internalRun("DELETE FROM _service_meta_replay WHERE key = ?", key);
    for (let piece = 0; piece * PIECE_LENGTH < answer.length; piece++) {
      connection.internalRun(
        "INSERT INTO _service_meta_replay VALUES (?,?,?,?,?)",
        key,
        piece,
        requestHash,
        answer.slice(piece * PIECE_LENGTH, (piece + 1) * PIECE_LENGTH),
        replay.expiresAtMs,
      );
    }
  }
}

/** Deletes answers whose time is over, a bounded number at a time. */
export function pruneReplays(connection: Connection, nowMs: number): void {
  connection.internalRun(
    "DELETE FROM _service_meta_replay WHERE (key, piece) IN (SELECT key, piece FROM _service_meta_replay " +
      "WHERE expires_at <= ? LIMIT ?)",
    nowMs,
    PRUNED_AT_ONCE,
  );
}
