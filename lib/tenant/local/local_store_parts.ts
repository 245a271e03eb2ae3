// What the embedded store is made of.
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { TransferRoom } from "../transfer/transfer_room.ts";
import type { KeyLookups } from "./lookups/key_lookups.ts";
import type { LogSpool } from "./log/log_spool.ts";
import type { OpenTransactions } from "./transactions/open_transactions.ts";
import type { Scheduler } from "./pool/scheduler.ts";

/** What the store itself needs of its options. */
export interface LocalStoreSettings {
  /** Milliseconds that one statement may run. */
  readonly queryTimeoutMs: number;
  /** Days that log and audit rows are stored. */
  readonly logDays: number;
  /** Bytes that the query log and the calls may have in one database. Default: `DEFAULT_LOG_BYTES`. */
  readonly logBytes?: number;
  /** Days that snapshots are stored. */
  readonly snapshotDays: number;
  /** Whether this process itself may answer look-ups by key. Default: yes. */
  readonly keyLookups?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the store is made of. */
export interface LocalStoreParts {
  readonly scheduler: Scheduler;
  readonly spool: LogSpool;
  readonly tenants: string;
  readonly scratch: string;
  /** That all children may hold together. */
  readonly memoryBytes: number;
  /** Bytes of temporary files that a read may write now. */
  readonly tempBytes: () => number;
  readonly transactions: OpenTransactions;
  readonly transferRoom: TransferRoom;
  /** Null: children answer every call. */
  readonly lookups: KeyLookups | null;
}
