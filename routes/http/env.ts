// What a request carries through Hono: its connection, and what the middleware has found out about it.
import type { Context } from "hono";
import type { Caller, TokenCaller } from "../../lib/access/caller.ts";
import type { Target } from "../../lib/access/resolve_target.ts";
import type { ClientConnection } from "../../lib/guard/http_listener.ts";
import type { ReplayScope, StoreStep } from "../../lib/control/replays.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { FileStep } from "../../lib/services/transfer/file_step.ts";
import type { Visit } from "./visit.ts";

/** The service's Hono environment: `new Hono<Env>()`, `c.get("arrival")`. */
export interface Env {
  Bindings: Connection & {
    /** Set where an app inside this one answers. */
    readonly carried?: Carried;
  };
  Variables: {
    /** Set for every request. */
    arrival: Arrival;
    /** Set under `/api`: the caller whom the bearer or the session proves. */
    caller: Caller;
    /** Set under `/v1`: the token that the bearer proves. */
    token: TokenCaller;
    /** Set by the plan middleware: the plan's step that this call is. */
    plan: ReplayScope | undefined;
    /** Set with `plan` where the call may run: for a call whose answer is stored in its own commit to KV. */
    storeStep: StoreStep | undefined;
    /** Set by a route whose answer the tenant's database, or its own commit to KV, stores for the plan. */
    storedForPlan: boolean | undefined;
    /** Set for a step of a plan that sends a file: its body, of which somebody takes the digest. */
    upload: ReadableStream<Uint8Array> | undefined;
    /** Set for such a step. */
    fileStep: FileStep | undefined;
    /** Set under `/console`. */
    visit: Visit;
    /** Set by a page whose form leads out of the service: where to, as a source of a Content-Security-Policy. */
    formTarget: string | undefined;
    /** Set under `/v1/db/:ns/:db/`: the database and branch addressed. */
    target: Target;
  };
}

/** What an app inside the service is told of a request that has come in. */
export interface Carried {
  /** `req_…`, also in the answer's `X-Request-Id`. */
  readonly requestId: string;
  /** The other end of the connection; null where it has no address. */
  readonly peer: Deno.NetAddr | null;
  /** Ends request bodies that do not arrive in time. */
  readonly bodyWatch: BodyWatch;
}

/** What every request has. One variable, because a point read would notice the map that five are kept in. */
export interface Arrival extends Carried {
  /** The answer that has the request id already, if a route has made one. */
  wholeAnswer: Response | null;
  /** The body, once somebody has begun to read it. */
  bodyText: Promise<string> | null;
  /** Lets the caller in once more, with the errors of the first time; null: nobody was let in by who they are. */
  admit: ((c: Context<Env>) => unknown) | null;
}

/** The beginning of a request. */
export function arrivalOf({ requestId, peer, bodyWatch }: Carried): Arrival {
  return { requestId, peer, bodyWatch, wholeAnswer: null, bodyText: null, admit: null };
}

/** What the server tells about the connection. Without it (`app.request` in tests) the address is unknown. */
export interface Connection {
  readonly remoteAddr?: Deno.Addr;
  /** Present where this service listens itself: the client may take longer to receive the answer. */
  readonly expectLargeAnswer?: (bytes: number) => void;
  /** Present there too: bounds what answers take that clients do not take, as `ClientConnection` says. */
  readonly holdAnswer?: ClientConnection["holdAnswer"];
  readonly answersSettled?: ClientConnection["answersSettled"];
  /** Present there too: makes a socket of the connection, as `ClientConnection` says. */
  readonly upgrade?: ClientConnection["upgrade"];
}

/**
 * The other end of a request's connection. Null where it has no address, as for `app.request` in tests. The runtime
 * makes a new object at each call.
 */
export function peerOf(connection: Connection | undefined): Deno.NetAddr | null {
  const address = connection?.remoteAddr;
  return address?.transport === "tcp" ? address : null;
}
