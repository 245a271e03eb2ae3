// The one door to a function of the runtime that has no public form: its HTTP server on a single connection. `Deno.serve`
// (2.9) accepts by itself, waits for ever for the rest of a head, and has no setting for it.

/** A request's answer; never throws. */
export type Answer = (request: Request) => Response | Promise<Response>;

export interface ServedConnection {
  /** Settles when the connection has ended, whoever ended it and however. */
  readonly finished: Promise<void>;
  /** Ends it at once, in the middle of a request too: then that request's signal aborts. Afterwards it does nothing. */
  end(): void;
  /** Ends it as soon as no request is being answered on it. Never rejects. */
  drain(): Promise<void>;
}

/** Answers HTTP/1.1 and HTTP/2 on a connection, which is given away. `onError`: as of `Deno.serve`. */
export type ServeConnection = (
  connection: Deno.TcpConn,
  answer: Answer,
  onError: (error: unknown) => Response,
) => ServedConnection;

/** The runtime's own function, as of 2.9. Of an `AbortSignal` it only listens for the end, in which it cancels. */
type RuntimeServe = (
  connection: Deno.TcpConn,
  signal: { addEventListener(type: "abort", cancel: () => void): void },
  // Two parameters: the runtime leaves the request out for a handler that takes none.
  handler: (request: Request) => Response | Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => { readonly finished: Promise<void>; shutdown(): Promise<void> };

const PARAMETERS = 5;

/** Null where the runtime has no such function, or one that takes something else. */
export function findServeConnection(runtime: object = Deno): ServeConnection | null {
  const serve = runtimeServe(runtime);
  return serve && ((connection, answer, onError) => {
    let cancel = () => {};
    const signal = { addEventListener: (_: "abort", listener: () => void) => void (cancel = listener) };
    const served = serve(connection, signal, answer, onError, () => {});
    // How a connection ends is the client's matter: broken off, or with bytes that are no HTTP.
    const ignore = () => {};
    const drain = () => served.shutdown().then(ignore, ignore);
    return {
      // Of a connection that was broken off the runtime keeps its record until it is told to shut it down.
      finished: served.finished.catch(drain),
      end: () => unlessEnded(cancel),
      drain,
    };
  });
}

/** Guarantee: a function of that name and number of parameters, which tests/guard/serve_connection_test.ts holds to the rest. */
function runtimeServe(runtime: object): RuntimeServe | null {
  const name: unknown = Reflect.get(runtime, "internal");
  const internals: unknown = typeof name === "symbol" ? Reflect.get(runtime, name) : null;
  if (typeof internals !== "object" || internals === null) return null;
  const found: unknown = Reflect.get(internals, "serveHttpOnConnection");
  return typeof found === "function" && found.length === PARAMETERS ? found as RuntimeServe : null;
}

/** A connection that has ended, or is draining, is no longer the runtime's to cancel. */
function unlessEnded(cancel: () => void): void {
  try {
    cancel();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
