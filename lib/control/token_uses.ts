// When tokens were last used. The hot path notes it in memory; it is written in batches every few minutes, so that no
// request waits for KV. A crash loses what was noted since the last write and nothing else.
import { type Clock, isOfClockPutBack } from "../core/clock.ts";
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { TokenRecord } from "../store/records.ts";
import { lifetimeUntil } from "./token_records.ts";

/** Milliseconds between two writes of a process: by so much the time in KV may be behind. */
export const TOKEN_USE_WRITE_MS = 300_000;
/** Tokens noted between two writes, at some 150 bytes each. Of those beyond it only the next round knows. */
const MAX_NOTED = 20_000;
/** Tokens of one commit: each takes two checks, and KV allows 100. */
const WRITTEN_AT_ONCE = 40;

/** The use of one token. */
interface Use {
  readonly namespaceId: string;
  readonly tokenId: string;
  atMs: number;
}

/** The part of a token's record by which its uses are kept. */
type UsedToken = Pick<TokenRecord, "namespaceId" | "id">;

/** The uses of a process's tokens. */
export class TokenUses {
  #noted = new Map<string, Use>();

  constructor(private readonly kv: Deno.Kv, private readonly clock: Clock) {}

  /** Notes that a token was sent with a request. */
  note({ namespaceId, id }: UsedToken): void {
    const use = this.#noted.get(id);
    if (use !== undefined) use.atMs = this.clock.now();
    else if (this.#noted.size < MAX_NOTED) {
      this.#noted.set(id, { namespaceId, tokenId: id, atMs: this.clock.now() });
    }
  }

  /**
   * Unix milliseconds of the last use that is known here: exact for the requests of this process, up to
   * `TOKEN_USE_WRITE_MS` old for those of others. Null: never. Errors: `meter_unreachable`.
   */
  async lastOf({ namespaceId, id }: UsedToken): Promise<number | null> {
    const { value: written } = await kvGet(this.kv, keys.tokenUse(namespaceId, id));
    const noted = this.#noted.get(id)?.atMs ?? null;
    if (written === null || noted === null) return written ?? noted;
    return this.#isOlder(written, noted) ? noted : written;
  }

  /** Writes what was noted since the last time. What could not be written is kept. Errors: `meter_unreachable`. */
  async write(): Promise<void> {
    const uses = [...this.#noted.values()];
    this.#noted = new Map();
    for (let from = 0; from < uses.length; from += WRITTEN_AT_ONCE) {
      const some = uses.slice(from, from + WRITTEN_AT_ONCE);
      try {
        // A token that is revoked in this moment spoils the batch: what is still there goes with the next one.
        if (!await this.#commit(some)) this.#keep(some);
      } catch (error) {
        this.#keep(uses.slice(from));
        throw error;
      }
    }
  }

  /** False when one of the tokens was removed, or noted by another process, in this moment. */
  async #commit(uses: readonly Use[]): Promise<boolean> {
    const commit = this.kv.atomic();
    const entries = await Promise.all(uses.map(async (use) => ({
      use,
      token: await kvGet(this.kv, keys.token(use.namespaceId, use.tokenId)),
      last: await kvGet(this.kv, keys.tokenUse(use.namespaceId, use.tokenId)),
    })));
    const later = entries.filter(({ use, token, last }) =>
      token.value !== null && this.#isOlder(last.value ?? 0, use.atMs)
    );
    for (const { use, token, last } of later) {
      commit.check(token, last).set(
        last.key,
        use.atMs,
        lifetimeUntil(token.value?.expiresAt ?? null, this.clock.now()),
      );
    }
    return later.length === 0 || await kvCommit(commit);
  }

  #isOlder(written: number, atMs: number): boolean {
    // One of a clock that has been put back since would stand until its time has come.
    return written < atMs || isOfClockPutBack(written, this.clock.now());
  }

  #keep(uses: readonly Use[]): void {
    for (const use of uses) {
      const newer = this.#noted.get(use.tokenId);
      if (newer === undefined && this.#noted.size < MAX_NOTED) this.#noted.set(use.tokenId, use);
    }
  }
}
