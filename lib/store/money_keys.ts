// The part of the schema of Deno KV that is about money; see keys.ts.
import type { Key } from "./key.ts";
import type { BalanceRecord, BlockRecord, CreditRecord, UsageRecord } from "./money_records.ts";

/** A part of `keys`. */
export const moneyKeys = {
  /** As long as the namespace. Every commit that moves money of the namespace checks it. */
  balance: (namespaceId: string): Key<BalanceRecord> => ["balance", namespaceId],

  /** While a process spends, and ten minutes after its money went back. */
  balanceBlock: (namespaceId: string, blockId: string): Key<BlockRecord> => [
    "balance_block",
    namespaceId,
    blockId,
  ],
  balanceBlocksOf: (namespaceId: string): Key<BlockRecord> => ["balance_block", namespaceId],
  balanceBlocks: (): Key<BlockRecord> => ["balance_block"],

  /** As long as the namespace. */
  credit: (namespaceId: string, reference: string): Key<CreditRecord> => ["credit", namespaceId, reference],
  credits: (namespaceId: string): Key<CreditRecord> => ["credit", namespaceId],

  /** As long as the namespace. The hour is unix time in whole hours. */
  usage: (namespaceId: string, hour: number, databaseId: string): Key<UsageRecord> => [
    "usage",
    namespaceId,
    hour,
    databaseId,
  ],
  usageFrom: (namespaceId: string, hour: number): Key<UsageRecord> => ["usage", namespaceId, hour],
  usageOf: (namespaceId: string): Key<UsageRecord> => ["usage", namespaceId],
} as const;
