// The embedded store's interface for the code that gives work to the lanes of its databases.
import type { DatabaseIds } from "../../../core/database_ids.ts";
import type { DatabaseRequest } from "../child/protocol.ts";
import type { ReplyFrame } from "../frames/reply_frames.ts";
import type { DatabaseLanes } from "./database_lanes.ts";
import type { SharedLane } from "./jobs.ts";

/** The lanes of all databases of a store. */
export interface LaneHost {
  /** Milliseconds that one statement may run. */
  readonly statementMs: number;
  /** Nothing runs and nothing waits. */
  readonly isQuiet: boolean;
  lanes(database: DatabaseIds): DatabaseLanes;
  wake(lanes: DatabaseLanes): void;
  task(request: DatabaseRequest, lane: SharedLane, namespaceId: string): Promise<ReplyFrame>;
}
