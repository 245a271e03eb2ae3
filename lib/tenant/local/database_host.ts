// The embedded store's interface for the code that works on one of its databases.
import type { CommitNotices } from "../commit_notices.ts";
import type { DatabaseRequest } from "./child/protocol.ts";
import type { DatabaseStates } from "./files/database_states.ts";
import type { ReplyFrame } from "./frames/reply_frames.ts";
import type { DatabaseLanes } from "./lanes/database_lanes.ts";
import type { LaneHost } from "./lanes/lane_host.ts";
import type { KeyLookups } from "./lookups/key_lookups.ts";
import type { OpenTransactions } from "./transactions/open_transactions.ts";

/** The store's side of one database. */
export interface DatabaseHost extends LaneHost {
  readonly states: DatabaseStates;
  readonly commits: CommitNotices;
  /** Null: children answer every call. */
  readonly lookups: KeyLookups | null;
  readonly transactions: OpenTransactions;
  /** A transaction was committed. */
  wrote(databaseId: string): void;
  /** Called when a database is open nowhere, before another file takes the place of its own. */
  willReplace(databaseId: string): Promise<void>;
  flushLog(lanes: DatabaseLanes): Promise<void>;
  /** Runs a task while the database is open in no child and has no other work. Errors: `database_busy`. */
  exclusively(request: DatabaseRequest, namespaceId: string): Promise<ReplyFrame>;
}
