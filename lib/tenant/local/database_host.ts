// The embedded store's interface for the code that works on one of its databases.
import type { Request } from "./child/protocol.ts";
import type { CommitNotices } from "../commit_notices.ts";
import type { DatabaseStates } from "./database_states.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { ReplyFrame } from "./reply_frames.ts";
import type { KeyLookups } from "./key_lookups.ts";
import type { OpenTransactions } from "./open_transactions.ts";

/** The store's side of one database. */
export interface DatabaseHost {
  /** Milliseconds that one statement may run. */
  readonly statementMs: number;
  readonly states: DatabaseStates;
  readonly commits: CommitNotices;
  /** Null: children answer every call. */
  readonly lookups: KeyLookups | null;
  /** Nothing runs and nothing waits. */
  readonly isQuiet: boolean;
  lanes(databaseId: string, namespaceId: string): DatabaseLanes;
  wake(lanes: DatabaseLanes): void;
  task(
    databaseId: string,
    namespaceId: string,
    request: Request,
    lane: "read" | "write",
  ): Promise<ReplyFrame>;
  readonly transactions: OpenTransactions;
  /** A transaction was committed. */
  wrote(databaseId: string): void;
  /** Called when a database is open nowhere, before another file takes the place of its own. */
  willReplace(databaseId: string): Promise<void>;
  flushLog(lanes: DatabaseLanes): Promise<void>;
  /** Runs a task while the database is open in no child and has no other work. Errors: `database_busy`. */
  exclusively(databaseId: string, namespaceId: string, request: Request): Promise<ReplyFrame>;
}
