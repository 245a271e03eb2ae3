// What calls used, summed by database until it is written to KV.
import type { UsageRecord } from "../../store/money_records.ts";

/** What a call used. */
export interface CallUsage {
  readonly databaseId: string;
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly costNanoUsd: number;
}

/** What the calls of one database used. */
export interface DatabaseUsage {
  readonly databaseId: string;
  /** Monotonic milliseconds of the first of them, or up to a second earlier. */
  readonly sinceMs: number;
  requests: number;
  rowsRead: number;
  rowsWritten: number;
  costNanoUsd: number;
}

/** The sum of a database, made when it is missing. */
export function usageOf(
  databases: Map<string, DatabaseUsage>,
  databaseId: string,
  sinceMs: number,
): DatabaseUsage {
  let usage = databases.get(databaseId);
  if (usage === undefined) {
    usage = { databaseId, sinceMs, requests: 0, rowsRead: 0, rowsWritten: 0, costNanoUsd: 0 };
    databases.set(databaseId, usage);
  }
  return usage;
}

/** Adds what a call used to its database's sum. */
export function addUsage(total: DatabaseUsage, usage: CallUsage): void {
  total.requests += usage.requests;
  total.rowsRead += usage.rowsRead;
  total.rowsWritten += usage.rowsWritten;
  total.costNanoUsd += usage.costNanoUsd;
}

/** What is recorded of an hour, with what was used beside it; null: nothing is recorded yet. */
export function sumOfUsage(before: UsageRecord | null, usage: UsageRecord): UsageRecord {
  return {
    requests: (before?.requests ?? 0) + usage.requests,
    rowsRead: (before?.rowsRead ?? 0) + usage.rowsRead,
    rowsWritten: (before?.rowsWritten ?? 0) + usage.rowsWritten,
    costNanoUsd: (before?.costNanoUsd ?? 0) + usage.costNanoUsd,
  };
}
