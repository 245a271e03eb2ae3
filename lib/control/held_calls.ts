// Calls that wait: for their execution token, or for an approval. Their text may be larger than a KV value, so it is
// stored in pieces.
import type { Clock } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import { dropPieces, readPieces, writePieces } from "../store/pieces.ts";
import type { ExecutionRecord } from "../store/write_records.ts";

/** KV deletes records a little after the deadline, which is checked where it matters. */
const EXPIRY_SLACK_MS = 60_000;

/** A proposed write that its proposer runs now. */
export type ClaimedExecution =
  | { readonly ok: true; readonly held: string; readonly giveBack: () => Promise<void> }
  | { readonly ok: false; readonly reason: "not_found" | "not_yours" };

/** Every method's errors: `meter_unreachable`. */
export class HeldCalls {
  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Writes the text of a call before its record exists, and answers the number of pieces. */
  keep(holder: string, text: string, untilMs: number): Promise<number> {
    return writePieces(this.kv, new TextEncoder().encode(text), {
      key: (piece) => keys.heldPiece(holder, piece),
      expireIn: untilMs - this.clock.now() + EXPIRY_SLACK_MS,
    });
  }

  /** Removes a text whose record was never written. */
  drop(holder: string, pieces: number): Promise<void> {
    return dropPieces(this.kv, pieces, (piece) => keys.heldPiece(holder, piece));
  }

  /** Null when it is gone. */
  async read(holder: string, pieces: number): Promise<string | null> {
    const bytes = await readPieces(this.kv, pieces, (piece) => keys.heldPiece(holder, piece));
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  /** Stores a proposed write under the hash of its execution token. */
  async propose(hash: string, text: string, record: Omit<ExecutionRecord, "pieces">): Promise<void> {
    const pieces = await this.keep(hash, text, record.expiresAt);
    const expireIn = record.expiresAt - this.clock.now() + EXPIRY_SLACK_MS;
    await kvCommit(this.kv.atomic().set(keys.execution(hash), { ...record, pieces }, { expireIn }));
  }

  /** Takes a proposed write: one of several callers gets it. One of another bearer or database stays. */
  async claim(
    hash: string,
    by: Pick<ExecutionRecord, "tokenId" | "databaseId" | "branchRef">,
  ): Promise<ClaimedExecution> {
    const entry = await kvGet(this.kv, keys.execution(hash));
    const record = entry.value;
    if (record === null || record.expiresAt <= this.clock.now()) return { ok: false, reason: "not_found" };
    if (
      record.tokenId !== by.tokenId || record.databaseId !== by.databaseId ||
      record.branchRef !== by.branchRef
    ) return { ok: false, reason: "not_yours" };
    const held = await this.read(hash, record.pieces);
    if (held === null || !await kvCommit(this.kv.atomic().check(entry).delete(entry.key))) {
      return { ok: false, reason: "not_found" };
    }
    const giveBack = async () => {
      const expireIn = Math.max(1, record.expiresAt - this.clock.now() + EXPIRY_SLACK_MS);
      await kvCommit(this.kv.atomic().set(keys.execution(hash), record, { expireIn }));
    };
    return { ok: true, held, giveBack };
  }
}
