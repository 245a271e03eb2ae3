// Gives the blocks of dead processes back to their balances.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { keys } from "../../store/keys.ts";
import { kvCall, kvEntries, kvGet } from "../../store/kv_call.ts";
import type { BlockRecord } from "../../store/money_records.ts";
import { CLOSED_BLOCK_KEPT_MS } from "./balance_limits.ts";
import { changeAccount } from "./change_account.ts";

/** Milliseconds by which the wall clock may differ from the monotonic one before it counts as having jumped. */
const JUMP_MS = 2_000;

/** Part of a lease: timers are never exact, and the owner itself spends for three quarters of one. */
const WATCHED_SHARE = 0.9;

interface Sighting {
  readonly versionstamp: string;
  readonly sinceMs: number;
}

interface Abandoned {
  readonly namespaceId: string;
  readonly blockId: string;
  readonly versionstamp: string;
}

/**
 * A block is abandoned when nobody changed it for about a lease while this process watched, whatever the clocks say. A process
 * that is alone takes it at once where its lease has ended by the wall clock; after a jump of that clock it waits for a lease.
 */
export class BlockSweeper {
  #seen = new Map<string, Sighting>();
  #wallAheadMs: number;
  #trustWallFromMs = -Infinity;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly options: { readonly leaseMs: number; readonly isAlone: boolean },
  ) {
    this.#wallAheadMs = clock.now() - clock.monotonicMs();
  }

  /** Reads every block once. Errors: `meter_unreachable`. */
  async sweep(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    this.#watchClock(nowMs);
    const seen = new Map<string, Sighting>();
    const abandoned: Abandoned[] = [];
    for await (const { key, value, versionstamp } of kvEntries(this.kv, keys.balanceBlocks())) {
      const [, namespaceId, blockId] = key;
      if (typeof namespaceId !== "string" || typeof blockId !== "string") continue;
      if (value.closed) continue;
      const name = `${namespaceId}/${blockId}`;
      const before = this.#seen.get(name);
      const sighting = before?.versionstamp === versionstamp ? before : { versionstamp, sinceMs: nowMs };
      if (this.#isAbandoned(value, sighting, nowMs)) abandoned.push({ namespaceId, blockId, versionstamp });
      else seen.set(name, sighting);
    }
    this.#seen = seen;
    for (const block of abandoned) await this.#giveBack(block);
  }

  #watchClock(nowMs: number): void {
    const aheadMs = this.clock.now() - nowMs;
    if (Math.abs(aheadMs - this.#wallAheadMs) > JUMP_MS) this.#trustWallFromMs = nowMs + this.options.leaseMs;
    this.#wallAheadMs = aheadMs;
  }

  #isAbandoned(block: BlockRecord, sighting: Sighting, nowMs: number): boolean {
    const { leaseMs, isAlone } = this.options;
    if (nowMs - sighting.sinceMs >= WATCHED_SHARE * leaseMs) return true;
    return isAlone && nowMs >= this.#trustWallFromMs && this.clock.now() >= block.expiresAtMs;
  }

  /** Gives the block back unless its owner has changed it since. */
  async #giveBack({ namespaceId, blockId, versionstamp }: Abandoned): Promise<void> {
    const key = keys.balanceBlock(namespaceId, blockId);
    try {
      await changeAccount(this.kv, namespaceId, async (balance) => {
        const entry = await kvGet(this.kv, key);
        if (entry.versionstamp !== versionstamp) return { next: null, outcome: null };
        const { amountNanoUsd } = entry.value;
        return {
          next: {
            ...balance,
            balanceNanoUsd: balance.balanceNanoUsd + amountNanoUsd,
            reservedNanoUsd: balance.reservedNanoUsd - amountNanoUsd,
          },
          // The stamp stays, so that an owner that comes back sees what of its spending was paid.
          also: (atomic) =>
            atomic.set(key, { ...entry.value, amountNanoUsd: 0, closed: true }, {
              expireIn: CLOSED_BLOCK_KEPT_MS,
            }),
          outcome: null,
        };
      });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "namespace_not_found") throw error;
      // The namespace was deleted between two pages.
      await kvCall(() => this.kv.delete(key));
    }
  }
}
