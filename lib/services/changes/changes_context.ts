// What the services of the change feed need of a request.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { QueryContext } from "../../query/query_call.ts";
import type { Target } from "../../access/resolve_target.ts";
import type { ChangeFeeds } from "./change_feeds.ts";

/** The process's parts and the database addressed. */
export interface ChangesContext {
  readonly control: ControlPlane;
  readonly query: QueryContext;
  readonly feeds: ChangeFeeds;
  readonly target: Target;
}
