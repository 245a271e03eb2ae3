// What the services for a database's endpoints work with.
import type { QueryContext } from "../../query/query_call.ts";
import type { ManageContext } from "../manage_context.ts";

export interface EndpointContext extends ManageContext {
  readonly query: QueryContext;
  /** Prefix of absolute URLs. */
  readonly baseUrl: string;
}
