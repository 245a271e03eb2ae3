// Calls that wait: for their execution token, or for an approval. Their text may be larger than a KV value, so it is
// stored in pieces.
import type { Clock } from "../core/clock.ts";
import { approvalLimits, chosenSec } from "../core/limits.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import { dropPieces, readPieces, writePieces } from "../store/pieces.ts";
import type { ExecutionRecord } from "../store/write_records.ts";
import { APPROVAL_MS } from "./approvals.ts";
import { KeptRoom } from "./kept_room.ts";

/** KV deletes records a little after the deadline, which is checked where it matters. */
const EXPIRY_SLACK_MS = 60_000;

/** A proposed write that its proposer runs now. */
export type ClaimedExecution =
  | { readonly ok: true; readonly held: string; readonly giveBack: () => Promise<void> }
  | { readonly ok: false; readonly reason: "not_found" | "not_yours" };

/** Every method's errors: `meter_unreachable`. */
export class HeldCalls {
  readonly #proposed: KeptRoom;
  readonly #approvals: KeptRoom;

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {
    this.#proposed = new KeptRoom(clock, chosenSec.execution.most * 1000);
    this.#approvals = new KeptRoom(clock, 2 * APPROVAL_MS, approvalLimits);
  }

  /**
   * Writes the text of a call before a record of an approval names it, and answers the number of pieces. Null: the approvals of the
   * last two days have taken all room of the namespace.
   */
  async keep(
    holder: string,
    { namespaceId, text }: { readonly namespaceId: string; readonly text: string },
    untilMs: number,
  ): Promise<number | null> {
    const bytes = new TextEncoder().encode(text);
    return this.#approvals.take(namespaceId, bytes.length)
      ? await this.#keepBytes(holder, bytes, untilMs)
      : null;
  }

  #keepBytes(holder: string, bytes: Uint8Array, untilMs: number): Promise<number> {
    return writePieces(this.kv, bytes, {
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

  /** Stores a proposed write under the hash of its execution token. False: the namespace's have taken all room of the hour. */
  async propose(
    hash: string,
    { namespaceId, text }: { readonly namespaceId: string; readonly text: string },
    record: Omit<ExecutionRecord, "pieces">,
  ): Promise<boolean> {
    const bytes = new TextEncoder().encode(text);
    if (!this.#proposed.take(namespaceId, bytes.length)) return false;
    const pieces = await this.#keepBytes(hash, bytes, record.expiresAt);
    const expireIn = record.expiresAt - this.clock.now() + EXPIRY_SLACK_MS;
    await kvCommit(this.kv.atomic().set(keys.execution(hash), { ...record, pieces }, { expireIn }));
    return true;
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
