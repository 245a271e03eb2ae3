// Synchronises one process's block with KV: pays what was spent, sizes the block anew and renews its lease.
import { type Clock, HOUR_MS } from "../../core/clock.ts";
import { type Key, keys } from "../../store/keys.ts";
import { kvCall, kvGet } from "../../store/kv_call.ts";
import type { BlockRecord, UsageRecord } from "../../store/money_records.ts";
import { CLOSED_BLOCK_KEPT_MS } from "./balance_limits.ts";
import { type AccountStep, changeAccount, inMonth } from "./change_account.ts";
import { type BlockPlan, planBlock, spendable } from "./plan_block.ts";
import type { Charge, SpendingAccount } from "./spending_account.ts";
import { sumOfUsage } from "./database_usage.ts";

/** Keys that Deno KV reads in one call. */
const GET_AT_ONCE = 10;

/** What this needs of the process. */
export interface SyncContext {
  readonly kv: Deno.Kv;
  readonly clock: Clock;
  /** The name of this process and of its block in every namespace. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly localLeaseMs: number;
  readonly nextStamp: () => number;
}

interface Synced {
  readonly charge: Charge;
  readonly plan: BlockPlan;
  readonly startedMs: number;
}

/**
 * Pays for `most` databases at most, and asks for a block of `wanted()` nano-dollars; 0 gives it back. Errors:
 * `namespace_not_found`, `meter_unreachable`.
 */
export async function syncBlock(
  ctx: SyncContext,
  account: SpendingAccount,
  { most, wanted }: { readonly most: number; readonly wanted: (nowMs: number) => number },
): Promise<void> {
  const { charge, plan, startedMs } = await changeAccount<Synced>(
    ctx.kv,
    account.namespaceId,
    async (found) => {
      const startedMs = ctx.clock.monotonicMs();
      const nowMs = ctx.clock.now();
      const key = keys.balanceBlock(account.namespaceId, ctx.owner);
      const block = (await kvGet(ctx.kv, key)).value;
      account.resolveDoubt(block);
      const charge = account.takeCharge(ctx.nextStamp, most);
      const usage = await addedUsage(ctx.kv, account.namespaceId, hourOf(nowMs), charge);
      const wantNanoUsd = wanted(startedMs);
      const heldNanoUsd = block?.amountNanoUsd ?? 0;
      const balance = inMonth(found, account.namespaceId, nowMs);
      account.trustUpTo(spendable(balance, heldNanoUsd));
      const plan = planBlock(balance, {
        heldNanoUsd,
        spentNanoUsd: charge.costNanoUsd,
        wantNanoUsd,
      });
      account.expect(charge, plan.amountNanoUsd);
      const outcome: Synced = { charge, plan, startedMs };
      // There was no block and there is no money: this costs a read, and no write unless the month was put back.
      if (heldNanoUsd === 0 && plan.amountNanoUsd === 0 && charge.databases.size === 0) {
        const next = balance.month < found.month ? balance : null;
        return { next, outcome } satisfies AccountStep<Synced>;
      }
      const closed = wantNanoUsd === 0;
      const next: BlockRecord = {
        amountNanoUsd: plan.amountNanoUsd,
        owner: ctx.owner,
        expiresAtMs: nowMs + ctx.leaseMs,
        stamp: charge.stamp,
        closed,
      };
      const also = (atomic: Deno.AtomicOperation): void => {
        atomic.set(key, next, closed ? { expireIn: CLOSED_BLOCK_KEPT_MS } : {});
        for (const [usageKey, record] of usage) atomic.set(usageKey, record);
      };
      return { next: plan.balance, also, outcome } satisfies AccountStep<Synced>;
    },
  );
  account.confirm(charge, plan);
  account.leaseUntilMs = startedMs + ctx.localLeaseMs;
  account.renewedMs = startedMs;
}

function hourOf(unixMs: number): number {
  return Math.floor(unixMs / HOUR_MS);
}

/** The hour's usage records with the charge added. They change only together with the balance. */
async function addedUsage(
  kv: Deno.Kv,
  namespaceId: string,
  hour: number,
  charge: Charge,
): Promise<[Key<UsageRecord>, UsageRecord][]> {
  const added = [...charge.databases.values()];
  const records: [Key<UsageRecord>, UsageRecord][] = [];
  for (let from = 0; from < added.length; from += GET_AT_ONCE) {
    const some = added.slice(from, from + GET_AT_ONCE);
    const found = await kvCall(() =>
      kv.getMany<UsageRecord[]>(some.map(({ databaseId }) => keys.usage(namespaceId, hour, databaseId)))
    );
    some.forEach((usage, index) => {
      const key = keys.usage(namespaceId, hour, usage.databaseId);
      records.push([key, sumOfUsage(found[index]?.value ?? null, usage)]);
    });
  }
  return records;
}
