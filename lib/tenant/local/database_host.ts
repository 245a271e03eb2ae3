// The embedded store as those see it who work for one of its databases.
import type { Request } from "./child/protocol.ts";
import type { DatabaseStates } from "./database_states.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { ReplyFrame } from "./engine_child.ts";

/** The store's side of one database. */
export interface DatabaseHost {
  readonly states: DatabaseStates;
  lanes(databaseId: string, namespaceId: string): DatabaseLanes;
  wake(lanes: DatabaseLanes): void;
  task(
    databaseId: string,
    namespaceId: string,
    request: Request,
    lane: "read" | "write",
  ): Promise<ReplyFrame>;
  flushLog(lanes: DatabaseLanes): Promise<void>;
  /** A task that runs while the database is open nowhere and nothing else of it runs. Errors: `database_busy`. */
  exclusively(databaseId: string, namespaceId: string, request: Request): Promise<ReplyFrame>;
}
