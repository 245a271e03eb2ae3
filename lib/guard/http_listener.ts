// Listens, accepts connections itself and has the runtime answer on each: only so can one be ended that never asks.
import type { Log } from "../core/log.ts";
import { ConnectionWatch, type OpenConnection } from "./connection_watch.ts";
import type { ServeConnection, ServedConnection } from "./serve_connection.ts";

/** Milliseconds after which it is tried again to accept where the system refused. */
const ACCEPT_AGAIN_MS = 100;
/** Silent connections that are ended then. */
const ENDED_AT_ONCE = 32;

export interface HttpListenerLimits {
  /** Milliseconds until a new connection's first head is whole, and from an answer until the next one is. */
  readonly headMs: number;
  readonly idleMs: number;
  /** Bytes of a large answer that a client has to take in a second. */
  readonly takenBytesPerSec: number;
  readonly maxConnections: number;
  /** Milliseconds between two looks at all of them. */
  readonly sweepMs: number;
}

export interface HttpListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly limits: HttpListenerLimits;
  readonly serve: ServeConnection;
  readonly log: Log;
}

/** What a handler is told about the connection that its request came in on. */
export interface ClientConnection {
  readonly remoteAddr: Deno.NetAddr;
  /** The answer that is being made is a large one: the client may take longer to receive it. */
  expectLargeAnswer(bytes: number): void;
}

export type ConnectionHandler = (
  request: Request,
  connection: ClientConnection,
) => Response | Promise<Response>;

export class HttpListener {
  readonly addr: Deno.NetAddr;
  readonly #listener: Deno.TcpListener;
  readonly #watch: ConnectionWatch;
  readonly #served = new Set<ServedConnection>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #accepting: Promise<void>;
  #stopping = false;

  /** Errors: those of `Deno.listen`. */
  constructor(private readonly options: HttpListenerOptions, private readonly handler: ConnectionHandler) {
    const { hostname, port, limits } = options;
    this.#listener = Deno.listen({ hostname, port });
    this.addr = this.#listener.addr;
    this.#watch = new ConnectionWatch({
      headSweeps: limits.headMs / limits.sweepMs,
      idleSweeps: limits.idleMs / limits.sweepMs,
      maxOpen: limits.maxConnections,
    });
    this.#timer = setInterval(() => this.#watch.sweep(), limits.sweepMs);
    this.#accepting = this.#accept();
  }

  /** Accepts nothing more, and ends each connection as soon as no request is being answered on it. */
  async shutdown(): Promise<void> {
    if (!this.#stopping) this.#listener.close();
    this.#stopping = true;
    await this.#accepting;
    await Promise.all([...this.#served].flatMap((served) => [served.drain(), served.finished]));
    clearInterval(this.#timer);
  }

  async #accept(): Promise<void> {
    while (!this.#stopping) {
      try {
        this.#open(await this.#listener.accept());
      } catch (error) {
        if (this.#stopping) return;
        if (hasHungUp(error)) continue;
        // Mostly for want of file descriptors, which the service's own files need too.
        this.options.log("warn", "connection_not_accepted", { error: nameOf(error) });
        for (let ended = 0; ended < ENDED_AT_ONCE && this.#watch.endOne(); ended++);
        await new Promise((resolve) => setTimeout(resolve, ACCEPT_AGAIN_MS));
      }
    }
  }

  #open(connection: Deno.TcpConn): void {
    if (!this.#watch.hasRoom()) {
      this.options.log("warn", "connection_refused", { open: this.#watch.size });
      return connection.close();
    }
    const remoteAddr = connection.remoteAddr;
    const watched = this.#watch.add(() => served.end());
    let served: ServedConnection;
    try {
      connection.setNoDelay(true);
      served = this.options.serve(connection, this.#answerOn(watched, remoteAddr), this.#onError);
    } catch (error) {
      this.#watch.remove(watched);
      throw error;
    }
    this.#served.add(served);
    served.finished.then(() => {
      this.#watch.remove(watched);
      this.#served.delete(served);
    });
  }

  /** Costs a request two numbers and a look at its promise: no clock, no timer. */
  #answerOn(
    watched: OpenConnection,
    remoteAddr: Deno.NetAddr,
  ): (request: Request) => Response | Promise<Response> {
    const { takenBytesPerSec, sweepMs } = this.options.limits;
    const connection: ClientConnection = {
      remoteAddr,
      expectLargeAnswer: (bytes) => watched.allow(Math.ceil(bytes / takenBytesPerSec * 1000 / sweepMs)),
    };
    const { handler } = this;
    const finish = () => watched.finish();
    return (request) => {
      watched.begin();
      let answer: Response | Promise<Response> | null = null;
      try {
        return answer = handler(request, connection);
      } finally {
        if (answer instanceof Promise) answer.then(finish, finish);
        else finish();
      }
    };
  }

  readonly #onError = (error: unknown): Response => {
    this.options.log("error", "answer_failed", { error: nameOf(error) });
    return new Response("Internal Server Error", { status: 500 });
  };
}

/** A client that is gone before it is let in is no reason to end others. */
function hasHungUp(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
