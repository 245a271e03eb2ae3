// What a request carries through Hono: the connection it came in on, and what the middleware found out about it.
import type { Caller, TokenCaller } from "../../lib/access/caller.ts";
import type { Target } from "../../lib/access/resolve_target.ts";
import type { ReplayScope } from "../../lib/control/replays.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";

/** The service's Hono environment: `new Hono<Env>()`, `c.get("requestId")`. */
export interface Env {
  Bindings: Connection;
  Variables: {
    /** `req_…`, also in the answer's `X-Request-Id`. */
    requestId: string;
    /** The answer that carries the request id already, if somebody has made one. */
    wholeAnswer: Response | undefined;
    /** The other end of the connection; null where it has no address. */
    peer: Deno.NetAddr | null;
    /** Ends request bodies that do not arrive in time. */
    bodyWatch: BodyWatch;
    /** Set under `/api`: whoever the bearer proves. */
    caller: Caller;
    /** Set under `/v1`: the token that the bearer proves. */
    token: TokenCaller;
    /** The body, once somebody has read it. */
    bodyText: string | undefined;
    /** Set by the plan middleware: the step of a plan that this call is. */
    plan: ReplayScope | undefined;
    /** Set by a route whose answer the tenant's database keeps for the plan. */
    keptForPlan: boolean | undefined;
    /** Set by the target middleware under `/v1/db/:ns/:db/`: the database and branch addressed. */
    target: Target;
  };
}

/** What the server tells about the connection. Without one (`app.request` in tests) the address is unknown. */
export interface Connection {
  readonly remoteAddr?: Deno.Addr;
  /** Where we listen ourselves: the client may take longer to receive the answer that is being made. */
  readonly expectLargeAnswer?: (bytes: number) => void;
}

/**
 * The other end of the connection that a request came in on. Null where it has no address, as for `app.request` in
 * tests. The runtime makes it anew each time it is asked.
 */
export function peerOf(connection: Connection | undefined): Deno.NetAddr | null {
  const address = connection?.remoteAddr;
  return address?.transport === "tcp" ? address : null;
}
