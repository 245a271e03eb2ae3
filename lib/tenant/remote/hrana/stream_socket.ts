// One stream of the server over a WebSocket of its own (hrana3), which costs it a third of what a stream by HTTP does.
// Ending the socket ends the stream with whatever it has under way, and nothing else.
import type { BatchAnswer, BatchRequest } from "./hrana.ts";
import { type HranaEndpoint, type JsonError, type JsonResult, readResult } from "./hrana_client.ts";
import { batchFailure, refuseMoving, RemoteFailure } from "./remote_failure.ts";
import { WebSocketConnection } from "./web_socket.ts";

/** Names the one stream of a socket. */
const STREAM_ID = 1;
const PROTOCOL = "hrana3";
/** No batch of the service's comes near it. */
const MAX_ANSWER_BYTES = 1_000_000_000;

type Message =
  | { readonly type: "hello_ok" | "hello_error" }
  | { readonly type: "response_error"; readonly error: JsonError }
  | { readonly type: "response_ok"; readonly response: { readonly result?: JsonResult } };

interface Waiting {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: RemoteFailure) => void;
}

/** It carries one request at a time, and each at most once. */
export class StreamSocket {
  /** Of requests, in their order. */
  readonly #waiting: Waiting[] = [];
  #requests = 0;
  #isClosed = false;
  #socket: WebSocketConnection | null = null;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Null: the server opens none. Nothing of a caller's was sent then. */
  static async open({ url, headers }: HranaEndpoint, signal: AbortSignal): Promise<StreamSocket | null> {
    const { authorization = null, ...others } = headers;
    const stream = new StreamSocket();
    const jwt = authorization?.replace(/^Bearer /, "") ?? null;
    const stop = () => stream.close();
    signal.addEventListener("abort", stop);
    try {
      const opening = { headers: others, protocol: PROTOCOL, maxBytes: MAX_ANSWER_BYTES, signal };
      const listener = { text: (text: string) => stream.#take(text), ended: () => stream.#end() };
      const socket = await WebSocketConnection.open(url, opening, listener).catch(() => null);
      if (socket === null) return null;
      stream.#socket = socket;
      if (signal.aborted) stop();
      const greeted = stream.#wait(() => socket.send(JSON.stringify({ type: "hello", jwt })));
      const opened = stream.#request({ type: "open_stream", stream_id: STREAM_ID });
      const answers = await Promise.all([greeted, opened]);
      if (answers[0].type === "hello_ok" && answers[1].type === "response_ok") return stream;
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
    stream.close();
    return null;
  }

  /** Throws `RemoteFailure`. `baton`: what the answer names the stream by. */
  async send(
    { steps, baton }: Pick<BatchRequest, "steps" | "baton">,
    signal: AbortSignal | null,
  ): Promise<BatchAnswer> {
    if (this.#isClosed) throw new RemoteFailure("lost_stream");
    if (signal?.aborted) throw new RemoteFailure("stopped");
    const stop = () => this.close(new RemoteFailure("stopped"));
    signal?.addEventListener("abort", stop);
    try {
      const answer = await this.#request({ type: "batch", stream_id: STREAM_ID, batch: { steps } });
      return this.#read(answer, baton);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  #read(answer: Message, baton: string | null): BatchAnswer {
    if (answer.type === "response_error") {
      throw batchFailure(answer.error.message, answer.error.code ?? "", baton);
    }
    try {
      const result = answer.type === "response_ok" ? answer.response.result : undefined;
      if (!result) throw new SyntaxError("no result");
      return refuseMoving({ baton, steps: readResult(result) });
    } catch (error) {
      if (error instanceof RemoteFailure) throw error;
      // Nobody knows what the stream is in.
      this.close();
      throw new RemoteFailure("unreachable", "not an answer of Hrana");
    }
  }

  /** Whoever waits gets `failure`. */
  close(failure: RemoteFailure = cut()): void {
    this.#end(failure);
    this.#socket?.close();
  }

  #request(request: Readonly<Record<string, unknown>>): Promise<Message> {
    const message = JSON.stringify({ type: "request", request_id: this.#requests++, request });
    return this.#wait(() => this.#socket?.send(message));
  }

  /** What comes back when all has come that was waited for before. */
  #wait(begin: () => void): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(cut());
      this.#waiting.push({ resolve, reject });
      begin();
    });
  }

  #take(data: string): void {
    const waiting = this.#waiting.shift();
    try {
      if (!waiting) throw new SyntaxError("not asked for");
      const message: Message = JSON.parse(data);
      waiting.resolve(message);
    } catch {
      this.close();
      waiting?.reject(new RemoteFailure("unreachable", "not an answer of Hrana"));
    }
  }

  #end(failure: RemoteFailure = cut()): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(failure);
  }
}

function cut(): RemoteFailure {
  return new RemoteFailure("unreachable", "the socket has ended", { cutSocket: true });
}
