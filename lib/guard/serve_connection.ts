// The one access to a function of the runtime that is not public: its HTTP server on a single connection.
// `Deno.serve` (2.9) accepts connections itself, waits for ever for the rest of a head, and has no setting for that.
import { findResourceFunctions, type ResourceFunctions } from "./resource_functions.ts";

/** Answers a request; never throws. */
export type Answer = (request: Request) => Response | Promise<Response>;

/** A connection on which requests are answered. */
export interface ServedConnection {
  /** Settles when the connection has ended, for whatever reason. */
  readonly finished: Promise<void>;
  /** Ends it at once, also during a request, whose signal then aborts. Later calls do nothing. */
  end(): void;
  /** Ends it as soon as no request is being answered on it. Never rejects. */
  drain(): Promise<void>;
  /**
   * Makes a socket of the connection, by a request that asks for it. `finished` then settles at once; the socket
   * lives on. Null where this runtime would end it. Errors: those of `Deno.upgradeWebSocket`.
   */
  upgrade(request: Request, options: Deno.UpgradeWebSocketOptions): Deno.WebSocketUpgrade | null;
}

/**
 * Answers HTTP/1.1 and HTTP/2 on a connection, which belongs to the runtime from then on. `onError` is as in
 * `Deno.serve`.
 */
export type ServeConnection = (
  connection: Deno.TcpConn,
  answer: Answer,
  onError: (error: unknown) => Response,
) => ServedConnection;

/** The runtime's function, as of 2.9. It uses an `AbortSignal` only to learn of the end, and then cancels. */
type RuntimeServe = (
  connection: Deno.TcpConn,
  signal: { addEventListener(type: "abort", cancel: () => void): void },
  // Two parameters, because the runtime passes no request to a handler with fewer.
  handler: (request: Request) => Response | Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => { readonly finished: Promise<void>; shutdown(): Promise<void> };

const PARAMETERS = 5;

/** The name of a server among the resources of the runtime. */
const SERVER = "http";

/** Null where the runtime has no such function, or one with other parameters. */
export function findServeConnection(runtime: object = Deno): ServeConnection | null {
  const serve = runtimeServe(runtime);
  const functions = findResourceFunctions(runtime);
  return serve && ((connection, answer, onError) => {
    let cancel = () => {};
    const signal = { addEventListener: (_: "abort", listener: () => void) => void (cancel = listener) };
    const resource = functions && nextResource(functions);
    const served = serve(connection, signal, answer, onError, () => {});
    // A client may break off or send bytes that are no HTTP: that is no error of ours.
    const ignore = () => {};
    const drain = () => served.shutdown().then(ignore, ignore);
    return {
      // The runtime keeps the record of a broken connection until it is told to shut it down.
      finished: served.finished.catch(drain),
      end: () => unlessEnded(cancel),
      drain,
      upgrade: (request, options) => {
        if (functions === null || resource === null) return null;
        if (functions.resources()[resource] !== SERVER) return null;
        const upgrade = Deno.upgradeWebSocket(request, options);
        upgrade.socket.addEventListener("open", () => letGo(functions, resource, drain));
        return upgrade;
      },
    };
  });
}

/**
 * A server of the runtime (2.9) closes its sockets when it ends, and one for a single connection ends as soon as that
 * has become a socket. It ends without them where its resource is gone already.
 */
function letGo(functions: ResourceFunctions, resource: number, drain: () => Promise<void>): void {
  if (functions.resources()[resource] !== SERVER) return;
  functions.close(resource);
  void drain();
}

/** The number of the resource that is made next: they count up. */
function nextResource(functions: ResourceFunctions): number {
  const last = functions.createCancelHandle();
  functions.close(last);
  return last + 1;
}

/**
 * Guarantee: a function of that name and number of parameters, which tests/guard/serve_connection_test.ts holds to
 * the rest.
 */
function runtimeServe(runtime: object): RuntimeServe | null {
  const name: unknown = Reflect.get(runtime, "internal");
  const internals: unknown = typeof name === "symbol" ? Reflect.get(runtime, name) : null;
  if (typeof internals !== "object" || internals === null) return null;
  const found: unknown = Reflect.get(internals, "serveHttpOnConnection");
  return typeof found === "function" && found.length === PARAMETERS ? found as RuntimeServe : null;
}

/** The runtime can no longer cancel a connection that has ended or is draining. */
function unlessEnded(cancel: () => void): void {
  try {
    cancel();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
