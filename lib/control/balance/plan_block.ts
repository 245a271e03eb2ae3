// What a process's block becomes when its spending is paid: pure arithmetic in whole nano-dollars.
import type { BalanceRecord } from "../../store/money_records.ts";
import { BLOCK_SHARE, SMALL_BLOCK_NANO_USD } from "./balance_limits.ts";

/** What the process asks for. */
export interface BlockDemand {
  /** What is in the block now. */
  readonly heldNanoUsd: number;
  /** The cost of calls that ran and are not paid yet. */
  readonly spentNanoUsd: number;
  /** The size that the block should have afterwards; 0 gives it back. */
  readonly wantNanoUsd: number;
}

/** What the commit is to write. */
export interface BlockPlan {
  readonly balance: BalanceRecord;
  /** The block afterwards. */
  readonly amountNanoUsd: number;
  /** Why nothing more can be reserved, or null while something can. */
  readonly end: "balance_exhausted" | "monthly_cap_reached" | null;
}

/**
 * Pays from the block, then from what is free, writes off the rest, and then sizes the block. `balance` is this
 * month's.
 */
export function planBlock(balance: BalanceRecord, demand: BlockDemand): BlockPlan {
  const fromBlock = Math.min(demand.spentNanoUsd, demand.heldNanoUsd);
  const fromFree = Math.min(demand.spentNanoUsd - fromBlock, balance.balanceNanoUsd);
  const rest = demand.heldNanoUsd - fromBlock;
  const paid: BalanceRecord = {
    ...balance,
    balanceNanoUsd: balance.balanceNanoUsd - fromFree,
    reservedNanoUsd: balance.reservedNanoUsd - fromBlock,
    usedNanoUsd: balance.usedNanoUsd + fromBlock + fromFree,
    monthUsedNanoUsd: balance.monthUsedNanoUsd + fromBlock + fromFree,
    writtenOffNanoUsd: balance.writtenOffNanoUsd + demand.spentNanoUsd - fromBlock - fromFree,
  };
  const amountNanoUsd = blockSize(paid, rest, demand.wantNanoUsd);
  const next: BalanceRecord = {
    ...paid,
    balanceNanoUsd: paid.balanceNanoUsd - (amountNanoUsd - rest),
    reservedNanoUsd: paid.reservedNanoUsd + (amountNanoUsd - rest),
  };
  return { balance: next, amountNanoUsd, end: endOf(next) };
}

function blockSize(paid: BalanceRecord, rest: number, want: number): number {
  const room = roomUnderCap(paid);
  const free = Math.min(paid.balanceNanoUsd, Math.max(0, room));
  const most = Math.max(Math.floor((rest + free) / BLOCK_SHARE), SMALL_BLOCK_NANO_USD);
  if (want > rest) rest = Math.max(rest, Math.min(want, rest + free, most));
  else if (rest > 2 * want) rest = want;
  // A lowered cap takes back what blocks hold beyond it.
  return room < 0 ? Math.max(0, rest + room) : rest;
}

/** The most that a process may spend of a balance: its block, and what is free under the cap. */
export function spendable(balance: BalanceRecord, heldNanoUsd: number): number {
  return heldNanoUsd + Math.min(balance.balanceNanoUsd, Math.max(0, roomUnderCap(balance)));
}

/** What the cap leaves after the reserved money; negative when more is reserved. */
function roomUnderCap(balance: BalanceRecord): number {
  if (balance.monthlyCapNanoUsd === null) return Infinity;
  return balance.monthlyCapNanoUsd - balance.monthUsedNanoUsd - balance.reservedNanoUsd;
}

function endOf(balance: BalanceRecord): BlockPlan["end"] {
  if (balance.balanceNanoUsd === 0) return "balance_exhausted";
  return roomUnderCap(balance) <= 0 ? "monthly_cap_reached" : null;
}
