// The streams of a socket: which are open, and behind what their requests wait.
import { andThen } from "../../core/and_then.ts";
import { MAX_SOCKET_STREAMS } from "../../core/limits_hrana.ts";
import type { SocketRequest } from "./socket_types.ts";
import type { StoredTexts } from "./stored_texts.ts";
import { HranaStream } from "./stream.ts";

/** A number that a client has given to a stream. */
export interface SocketStream {
  readonly id: number;
  /** Null: it is closed, and what waits behind that may open another one. */
  stream: HranaStream | null;
  /** Numbers of the cursors that a client has asked it for and not closed. */
  readonly cursors: Set<number>;
  /** Settles when every request so far is answered; null: every one is. */
  tail: Promise<void> | null;
}

/** The streams of one socket. */
export class SocketStreams {
  readonly #streams = new Map<number, SocketStream>();

  constructor(private readonly texts: StoredTexts) {}

  /** Takes a number when a request to open it comes: what comes behind it waits for that. */
  take(id: number): void {
    if (this.#streams.has(id) || this.#streams.size >= MAX_SOCKET_STREAMS) return;
    this.#streams.set(id, { id, stream: new HranaStream(this.texts), cursors: new Set(), tail: null });
  }

  /** Opens what is not open, when its turn has come; whether there is room for it. */
  open(id: number): boolean {
    const taken = this.#streams.get(id);
    if (taken !== undefined) taken.stream ??= new HranaStream(this.texts);
    return taken !== undefined;
  }

  find(id: number): HranaStream | undefined {
    return this.#streams.get(id)?.stream ?? undefined;
  }

  /** Whose turn a request waits for. A cursor is fetched from and closed behind what opens it: clients do not wait for that. */
  of(request: SocketRequest): SocketStream | undefined {
    if ("stream_id" in request) {
      const taken = this.#streams.get(request.stream_id);
      if (request.type === "open_cursor") taken?.cursors.add(request.cursor_id);
      return taken;
    }
    if (!("cursor_id" in request)) return undefined;
    const taken = this.#streams.values().find(({ cursors }) => cursors.has(request.cursor_id));
    if (request.type === "close_cursor") taken?.cursors.delete(request.cursor_id);
    return taken;
  }

  /** Undoes what the stream has open. */
  close(id: number): void | Promise<void> {
    const taken = this.#streams.get(id);
    return andThen(taken?.stream?.transaction ? taken.stream.close() : undefined, () => {
      if (taken === undefined) return;
      taken.stream = null;
      if (taken.tail === null) this.#streams.delete(id);
    });
  }

  /** The last request of a stream is answered. */
  settle(taken: SocketStream): void {
    taken.tail = null;
    if (taken.stream === null) this.#streams.delete(taken.id);
  }

  /** Ends all at once: nobody waits any more. */
  abandon(): void {
    for (const { stream } of this.#streams.values()) stream?.abandon();
    this.#streams.clear();
  }
}
