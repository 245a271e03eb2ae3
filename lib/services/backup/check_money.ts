// Whether the money of each namespace adds up in a control plane that nobody writes.
import type { Key } from "../../store/key.ts";
import { keys, kindOf } from "../../store/keys.ts";
import { kvEntries } from "../../store/kv_call.ts";
import type { BalanceRecord } from "../../store/money_records.ts";

/** What was looked at, and what is wrong, in sentences. */
export interface Findings {
  readonly looked: number;
  readonly wrong: readonly string[];
}

/**
 * Looks that credits = balance + reserved + used in each namespace, that what is reserved is what its blocks hold, and that
 * each namespace has an account. Errors: `meter_unreachable`.
 */
export async function checkMoney(kv: Deno.Kv): Promise<Findings> {
  const blocks = await sumOf(
    kv,
    keys.balanceBlocks(),
    ({ closed, amountNanoUsd }) => closed ? 0 : amountNanoUsd,
  );
  const credits = await sumOf(kv, kindOf(keys.credit("", "")), ({ amountNanoUsd }) => amountNanoUsd);
  const wrong: string[] = [];
  const withMoney = new Set<string>();
  for await (const { key, value } of kvEntries(kv, kindOf(keys.balance("")))) {
    const namespaceId = String(key[1]);
    withMoney.add(namespaceId);
    wrong.push(
      ...faultsOf(value, {
        blocks: blocks.get(namespaceId) ?? 0,
        credits: credits.get(namespaceId) ?? 0,
      }).map((fault) => `money of ${namespaceId}: ${fault}`),
    );
  }
  for await (const { value } of kvEntries(kv, keys.namespaces())) {
    if (!withMoney.has(value.id)) wrong.push(`money of ${value.id}: there is no account`);
  }
  return { looked: withMoney.size, wrong };
}

/** What is wrong with an account; amounts are nano-dollars. */
export function faultsOf(
  { creditedNanoUsd, balanceNanoUsd, reservedNanoUsd, usedNanoUsd }: BalanceRecord,
  sums: { readonly blocks: number; readonly credits: number },
): string[] {
  const there = balanceNanoUsd + reservedNanoUsd + usedNanoUsd;
  const faults: string[] = [];
  if (creditedNanoUsd !== there) {
    faults.push(`credited ${creditedNanoUsd}, but balance, reserved and used are ${there}`);
  }
  if (reservedNanoUsd !== sums.blocks) {
    faults.push(`reserved ${reservedNanoUsd}, but its blocks hold ${sums.blocks}`);
  }
  if (creditedNanoUsd !== sums.credits) {
    faults.push(`credited ${creditedNanoUsd}, but its credits are ${sums.credits}`);
  }
  return faults;
}

async function sumOf<Value>(
  kv: Deno.Kv,
  prefix: Key<Value>,
  amount: (value: Value) => number,
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for await (const { key, value } of kvEntries(kv, prefix)) {
    const namespaceId = String(key[1]);
    sums.set(namespaceId, (sums.get(namespaceId) ?? 0) + amount(value));
  }
  return sums;
}
