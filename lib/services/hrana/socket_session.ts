// What a socket of libSQL's protocol does: streams beside each other, the requests of each in their order.
import { andThen } from "../../core/and_then.ts";
import { AppError } from "../../core/errors.ts";
import * as limits from "../../core/limits_hrana.ts";
import { failureText } from "./answer_request.ts";
import type { DoorContext } from "./hrana_types.ts";
import { SocketCursors } from "./socket_cursors.ts";
import { answerOnStream } from "./socket_requests.ts";
import { type ClientMessage, POLICY, type SocketParts, type SocketRequest } from "./socket_types.ts";
import { type SocketStream, SocketStreams } from "./socket_streams.ts";
import { StoredTexts } from "./stored_texts.ts";
import { withTexts } from "./with_texts.ts";

/** One socket. */
export class SocketSession {
  readonly #cursors: SocketCursors;
  readonly #texts = new StoredTexts();
  readonly #streams = new SocketStreams(this.#texts);
  readonly #closing = new AbortController();
  #token: string | null = null;
  /** Whether the token was good, at once where that is known; null: hello has not come. */
  #hello: Promise<boolean> | true | null = null;
  #waiting = 0;
  #waitingCharacters = 0;
  /** Nothing more is taken: the token has lost its right. */
  #isOver = false;
  /** The service stops: what to do when nothing waits any more. */
  #onIdle: (() => void) | null = null;

  constructor(private readonly parts: SocketParts) {
    this.#cursors = new SocketCursors(parts.mayHold);
  }

  /** Characters that the client has it hold: requests under way, stored texts, cursors. */
  get held(): number {
    return this.#waitingCharacters + this.#texts.characters + this.#cursors.characters;
  }

  /** Whether the client has said who it is. */
  get isKnown(): boolean {
    return this.#hello !== null;
  }

  /** Takes a message of so many characters; answers follow by `send`. Null: it is none of the protocol. */
  receive(message: ClientMessage | null, characters: number): void {
    if (this.#onIdle !== null) return;
    if (message === null) return this.#end("Send messages of the protocol");
    const hello = this.#hello;
    if (message.type !== "hello" && hello === null) return this.#end("Send hello first");
    const held = characters + (this.#waiting < limits.FREE_SOCKET_WAITING ? 0 : limits.WAITING_CHARACTERS);
    if (this.#waiting >= limits.MAX_SOCKET_WAITING || !this.parts.mayHold(held)) {
      return this.#end("Wait for answers; too much is under way");
    }
    const done = message.type === "hello"
      ? this.#greet(message.jwt ?? null)
      : message.type === "refused"
      ? andThen(this.parts.taken(), () => this.#tellRefused(message.request_id, message.error))
      : this.#answer(hello ?? false, message.request_id, message.request);
    if (done === null) this.#endIfOver();
    else this.#awaitAnswer(done, held);
  }

  /** `done` never rejects. */
  #awaitAnswer(done: Promise<unknown>, characters: number): void {
    this.#waiting++;
    this.#waitingCharacters += characters;
    void done.then(() => {
      this.#waiting--;
      this.#waitingCharacters -= characters;
      this.#endIfOver();
      if (this.#waiting === 0) this.#onIdle?.();
    });
  }

  #endIfOver(): void {
    if (this.#isOver) this.#end("The token or the database is gone");
  }

  /** Takes nothing more; `onIdle` is called when what runs has been answered. */
  stop(onIdle: () => void): void {
    this.#onIdle = onIdle;
    if (this.#waiting === 0) onIdle();
  }

  /** Ends everything: the socket has closed. */
  close(): void {
    this.#closing.abort();
    this.#streams.abandon();
    this.#cursors.clear();
  }

  #greet(token: string | null): Promise<boolean> {
    this.#token = token;
    const hello = this.#enterFirst(token).then((isGood) => {
      if (isGood && this.#hello === hello) this.#hello = true;
      return isGood;
    });
    this.#hello = hello;
    return hello;
  }

  async #enterFirst(token: string | null): Promise<boolean> {
    try {
      await this.parts.enter(token);
      this.parts.send('{"type":"hello_ok"}');
      return true;
    } catch (error) {
      this.parts.send(`{"type":"hello_error","error":${this.#failure(error)}}`);
      this.#end("Send a valid token");
      return false;
    }
  }

  /** Null: answered at once, as requests that run nothing are where nothing is in front of them. */
  #answer(hello: Promise<boolean> | boolean, id: number, asked: SocketRequest): Promise<void> | null {
    let open: SocketStream | undefined;
    try {
      const request = withTexts(asked, this.#texts);
      if (request.type === "open_stream") this.#streams.take(request.stream_id);
      open = this.#streams.of(request);
      const work = () => andThen(hello, (isGood) => isGood ? this.#run(request) : null);
      // Requests of one stream wait for each other, also those that open and close it.
      const tail = open?.tail ?? null;
      const response = tail === null ? work() : tail.then(work);
      if (!(response instanceof Promise)) return this.#respond(id, response);
      const answered: Promise<void> = response.then(
        (text) => this.#respond(id, text),
        (error) => this.#refuse(id, error, open, request),
      ).then(() => {
        if (open?.tail === answered) this.#streams.settle(open);
      });
      if (open !== undefined) open.tail = answered;
      return answered;
    } catch (error) {
      return this.#refuse(id, error, open, asked);
    }
  }

  #respond(id: number, text: string | null): null {
    if (text !== null) this.parts.send(`{"type":"response_ok","request_id":${id},"response":${text}}`);
    return null;
  }

  #refuse(id: number, error: unknown, open: SocketStream | undefined, request: SocketRequest): null {
    // One that was not opened has nothing to be behind, and its number would stay as long as the stream.
    if (request.type === "open_cursor") open?.cursors.delete(request.cursor_id);
    return this.#tellRefused(id, error);
  }

  #tellRefused(id: number, error: unknown): null {
    this.parts.send(`{"type":"response_error","request_id":${id},"error":${this.#failure(error)}}`);
    return null;
  }

  #run(request: SocketRequest): string | Promise<string> {
    switch (request.type) {
      case "open_stream":
        if (this.#streams.open(request.stream_id)) return '{"type":"open_stream"}';
        throw new AppError("validation_failed", {
          message: "Close a stream first; this socket has as many as it may",
        });
      case "close_stream":
        return andThen(this.#streams.close(request.stream_id), () => '{"type":"close_stream"}');
      case "store_sql":
      case "close_sql":
        return `{"type":"${request.type}"}`;
      case "fetch_cursor":
        return andThen(
          this.parts.taken(),
          () => this.#cursors.fetch(request.cursor_id, request.max_count),
        );
      case "close_cursor":
        this.#cursors.close(request.cursor_id);
        return '{"type":"close_cursor"}';
      default:
        return andThen(this.parts.taken(), () => this.#runOnStream(request));
    }
  }

  #runOnStream(request: Parameters<typeof answerOnStream>[0]): string | Promise<string> {
    const stream = this.#streams.find(request.stream_id);
    if (stream === undefined) throw new AppError("stream_expired");
    return andThen(this.#enter(), (ctx) => {
      stream.requireOwner(ctx);
      const signal = this.#closing.signal;
      return answerOnStream(request, { ctx, stream, signal, cursors: this.#cursors });
    });
  }

  /** A token that has lost its right ends the socket and what it has open. */
  #enter(): DoorContext | Promise<DoorContext> {
    try {
      const ctx = this.parts.enter(this.#token);
      return ctx instanceof Promise ? ctx.catch((error) => this.#notEntered(error)) : ctx;
    } catch (error) {
      return this.#notEntered(error);
    }
  }

  #notEntered(error: unknown): never {
    if (error instanceof AppError && [401, 403, 404].includes(error.status)) this.#isOver = true;
    throw error;
  }

  #failure(error: unknown): string {
    return failureText(error instanceof AppError ? error : this.parts.unexpected(error));
  }

  #end(reason: string): void {
    this.close();
    this.parts.end(POLICY, reason);
  }
}
