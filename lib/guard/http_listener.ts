// Listens and accepts connections itself, and lets the runtime answer on each: only so can a connection be ended that
// never sends a request.
import { reasonOf } from "../core/attempt.ts";
import type { Log } from "../core/log.ts";
import { answerBytes } from "./answer_bytes.ts";
import type { AnswerRoom } from "./answer_room.ts";
import { type ArrivingBodies, ConnectionWatch, type OpenConnection } from "./connection_watch.ts";
import type { ServeConnection, ServedConnection } from "./serve_connection.ts";
import { UpgradeTurns } from "./upgrade_turns.ts";
import { pause } from "../core/pause.ts";

/** Milliseconds before the next attempt to accept after the system refused. */
const ACCEPT_AGAIN_MS = 100;
/** How many silent connections are ended then. */
const ENDED_AT_ONCE = 32;

/** Bounds of the connections. */
export interface HttpListenerLimits {
  /** Milliseconds until the first head of a new connection has arrived, and from an answer until the next one has. */
  readonly headMs: number;
  readonly idleMs: number;
  /** Bytes of a large answer that a client must take each second. */
  readonly takenBytesPerSec: number;
  readonly maxConnections: number;
  /** Milliseconds between two sweeps over all connections. */
  readonly sweepMs: number;
}

/** Where to listen, and how. */
export interface HttpListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly limits: HttpListenerLimits;
  readonly serve: ServeConnection;
  /** Absent: the runtime gets every answer whole. */
  readonly answers?: AnswerRoom;
  readonly bodies?: ArrivingBodies;
  readonly log: Log;
}

/** An answer that leaves as its client takes it. */
export interface HeldAnswer {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly sizeBytes: number;
}

/** What a handler knows about the connection of its request. */
export interface ClientConnection {
  readonly remoteAddr: Deno.NetAddr;
  /** Says that the answer is large, so that the client may take longer to receive it. */
  expectLargeAnswer(bytes: number): void;
  /**
   * Finds room for an answer until its client has taken it. Null: it may be sent whole, as an answer can that is over
   * before the next request on its connection (`inTurn`). `owner`: who answers for it.
   */
  holdAnswer(answer: string | Uint8Array<ArrayBuffer>, owner: string, inTurn: boolean): HeldAnswer | null;
  /** Resolves when those that were held before have got to where they wait. */
  answersSettled(): Promise<void> | undefined;
  /**
   * Makes a socket of the connection, which is then never ended for being silent. `onStop` is told that the service
   * stops, and has to close it. Null where this runtime cannot. Errors: those of `Deno.upgradeWebSocket`.
   */
  upgrade(
    request: Request,
    options: Deno.UpgradeWebSocketOptions,
    onStop: () => void,
  ): Promise<Deno.WebSocketUpgrade | null>;
}

/** Answers a request of a connection. */
export type ConnectionHandler = (
  request: Request,
  connection: ClientConnection,
) => Response | Promise<Response>;

/** A listening socket with its connections. */
export class HttpListener {
  readonly addr: Deno.NetAddr;
  readonly #listener: Deno.TcpListener;
  readonly #watch: ConnectionWatch;
  readonly #served = new Set<ServedConnection>();
  /** For each socket the promise that it has closed, and who is told of a stop. */
  readonly #sockets = new Map<Promise<void>, () => void>();
  readonly #turns = new UpgradeTurns();
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
    }, options.bodies);
    this.#timer = setInterval(() => {
      this.#watch.sweep();
      options.answers?.sweep();
    }, limits.sweepMs);
    this.#accepting = this.#accept();
  }

  /** Stops accepting, ends each connection as soon as no request is being answered on it, and waits for sockets. */
  async shutdown(): Promise<void> {
    if (!this.#stopping) this.#listener.close();
    this.#stopping = true;
    await this.#accepting;
    for (const onStop of this.#sockets.values()) onStop();
    await this.options.bodies?.arrived();
    await Promise.all([...this.#served].flatMap((served) => [served.drain(), served.finished]));
    await Promise.all(this.#sockets.keys());
    await this.options.answers?.settled();
    clearInterval(this.#timer);
  }

  async #accept(): Promise<void> {
    while (!this.#stopping) {
      try {
        this.#open(await this.#listener.accept());
      } catch (error) {
        if (this.#stopping) return;
        if (hasHungUp(error)) continue;
        // Mostly there are no file descriptors left, which the service's own files need too.
        this.options.log("warn", "connection_not_accepted", { error: reasonOf(error) });
        for (let ended = 0; ended < ENDED_AT_ONCE && this.#watch.endOne(); ended++);
        await pause(ACCEPT_AGAIN_MS);
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
    const upgrade: ClientConnection["upgrade"] = async (request, options, onStop) => {
      const endTurn = await this.#turns.take();
      void served.finished.then(endTurn);
      const upgraded = served.upgrade(request, options);
      if (upgraded === null) endTurn();
      else this.#keep(upgraded.socket, watched, { onOpen: endTurn, onStop });
      return upgraded;
    };
    let served: ServedConnection;
    try {
      connection.setNoDelay(true);
      const holding = new HeldWhole();
      served = this.options.serve(
        connection,
        this.#answerOn(watched, holding, { remoteAddr, upgrade }),
        this.#onError,
      );
      void served.finished.then(() => holding.leave());
    } catch (error) {
      this.#watch.remove(watched);
      throw error;
    }
    this.#served.add(served);
    served.finished.then(() => {
      if (!watched.isSocket) this.#watch.remove(watched);
      this.#served.delete(served);
    });
  }

  #keep(
    socket: WebSocket,
    watched: OpenConnection,
    { onOpen, onStop }: { readonly onOpen: () => void; readonly onStop: () => void },
  ): void {
    watched.isSocket = true;
    socket.addEventListener("open", onOpen);
    const closed = new Promise<void>((resolve) => {
      for (const event of ["close", "error"]) socket.addEventListener(event, () => resolve());
    });
    this.#sockets.set(closed, onStop);
    void closed.then(() => {
      this.#sockets.delete(closed);
      this.#watch.remove(watched);
    });
    if (this.#stopping) onStop();
  }

  /** Costs two numbers and one check of a promise for each request: no clock, no timer. */
  #answerOn(
    watched: OpenConnection,
    whole: HeldWhole,
    more: Pick<ClientConnection, "remoteAddr" | "upgrade">,
  ): (request: Request) => Response | Promise<Response> {
    const { answers, limits: { takenBytesPerSec, sweepMs } } = this.options;
    const connection: ClientConnection = {
      ...more,
      holdAnswer: (answer, owner, inTurn) => {
        if (!answers) return null;
        const client = { owner, end: watched.end };
        if (inTurn && whole.hold(answers.holdWhole(answer.length, client))) return null;
        const bytes = answerBytes(answer);
        return { body: answers.pieces(bytes, client), sizeBytes: bytes.length };
      },
      answersSettled: () => answers?.settled(),
      expectLargeAnswer: (bytes) => watched.allow(Math.ceil(bytes / takenBytesPerSec * 1000 / sweepMs)),
    };
    const { handler } = this;
    const finish = () => watched.finish();
    return (request) => {
      watched.begin();
      whole.leave();
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
    this.options.log("error", "answer_failed", { error: reasonOf(error) });
    return new Response("Internal Server Error", { status: 500 });
  };
}

/** What the runtime was given whole on a connection: taken when the next request is there, or the connection has ended. */
class HeldWhole {
  #held: { leave(): void } | null = null;

  /** False: it is not held. */
  hold(held: { leave(): void } | null): boolean {
    // A second answer at a time: requests do not come in turn here.
    if (this.#held !== null) held?.leave();
    else this.#held = held;
    return held !== null && this.#held === held;
  }

  leave(): void {
    this.#held?.leave();
    this.#held = null;
  }
}

/** A client that has gone before it is accepted is no reason to end other connections. */
function hasHungUp(error: unknown): boolean {
  return error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionReset ||
    error instanceof Deno.errors.ConnectionAborted;
}
