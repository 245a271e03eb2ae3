// The streams that have a socket of their own, by batons that only this process knows. What holds of a baton holds of these:
// it names one stream, and the stream is lost when the socket is.
import type { Clock } from "../../../core/clock.ts";
import type { BatchAnswer, BatchRequest, HranaStep } from "./hrana.ts";
import type { HranaEndpoint } from "./hrana_client.ts";
import { RemoteFailure } from "./remote_failure.ts";
import { StreamSocket } from "./stream_socket.ts";

/** Milliseconds after which an idle socket is closed: streams are not used again after so long. */
const IDLE_MS = 6000;
/** Milliseconds that a socket may take to open; the call then goes by HTTP. */
const OPEN_MS = 1000;
/** Milliseconds after which a socket that is not open yet counts as refused, also where the call has ended meanwhile. */
const SLOW_MS = 50;
/** Milliseconds in which a server that has opened none is not asked again: what stands between may let HTTP through alone. */
const REFUSED_MS = 300_000;
/** Characters of values that go out in one message: the server ends sockets whose messages have more than 16 MiB. */
const MESSAGE_CHARACTERS = 1_000_000;
const BATON = /^socket:/;

interface Held {
  readonly socket: StreamSocket;
  isBusy: boolean;
  usedMs: number;
}

/** Those of one server, opened for streams that are used again soon. Whoever makes it closes it. */
export class StreamSockets {
  readonly #held = new Map<string, Held>();
  /** When the server has opened none. */
  #refusedMs = -REFUSED_MS;
  readonly #closing = new AbortController();
  #count = 0;
  #sweep: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** Open sockets. */
  get size(): number {
    return this.#held.size;
  }

  /** Whether the baton names a stream that has a socket. */
  carries(baton: string | null): baton is string {
    return baton !== null && BATON.test(baton);
  }

  /** Whether the baton names a stream whose socket is open and free. */
  isOpen(baton: string | null): baton is string {
    const held = baton === null ? undefined : this.#held.get(baton);
    return held !== undefined && !held.isBusy && !held.socket.isClosed;
  }

  /** Whether one is worth trying. */
  get areOpened(): boolean {
    return !this.#closing.signal.aborted && this.clock.monotonicMs() - this.#refusedMs >= REFUSED_MS;
  }

  /** The baton of a new stream; null: there is none to be had, and nothing was sent. */
  async open(endpoint: HranaEndpoint, signal: AbortSignal | null): Promise<string | null> {
    if (!this.areOpened) return null;
    const beganMs = this.clock.monotonicMs();
    const inTime = new AbortController();
    const timer = setTimeout(() => inTime.abort(), OPEN_MS);
    const signals = [inTime.signal, this.#closing.signal, ...(signal ? [signal] : [])];
    const socket = await StreamSocket.open(endpoint, AbortSignal.any(signals)).finally(() =>
      clearTimeout(timer)
    );
    if (socket === null) {
      const nowMs = this.clock.monotonicMs();
      // Otherwise each call that has less time than an opening would spend it there, and never run.
      if (!signal?.aborted || nowMs - beganMs >= SLOW_MS) this.#refusedMs = nowMs;
      return null;
    }
    if (this.#closing.signal.aborted) {
      socket.close();
      return null;
    }
    const baton = `socket:${++this.#count}`;
    this.#held.set(baton, { socket, isBusy: false, usedMs: this.clock.monotonicMs() });
    this.#sweep ??= setTimeout(() => this.#closeIdle(), IDLE_MS);
    return baton;
  }

  /** Throws `RemoteFailure`: `lost_stream` where the socket has ended since, and nothing ran. */
  async send(
    baton: string,
    { steps, close }: Omit<BatchRequest, "baton">,
    signal: AbortSignal | null,
  ): Promise<BatchAnswer> {
    const held = this.#held.get(baton);
    if (!held) throw new RemoteFailure("lost_stream");
    held.isBusy = true;
    try {
      const answer = steps.length === 0
        ? { baton, steps: [] }
        : await held.socket.send({ steps, baton }, signal);
      return close ? { steps: answer.steps, baton: null } : answer;
    } finally {
      held.isBusy = false;
      held.usedMs = this.clock.monotonicMs();
      if (close) held.socket.close();
      if (held.socket.isClosed) this.#held.delete(baton);
    }
  }

  /** Ends what is under way too. */
  close(): void {
    this.#closing.abort();
    if (this.#sweep !== null) clearTimeout(this.#sweep);
    this.#sweep = null;
    for (const { socket } of this.#held.values()) socket.close();
    this.#held.clear();
  }

  #closeIdle(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [baton, { socket, isBusy, usedMs }] of this.#held) {
      if (isBusy || (nowMs - usedMs < IDLE_MS && !socket.isClosed)) continue;
      socket.close();
      this.#held.delete(baton);
    }
    this.#sweep = this.#held.size === 0 ? null : setTimeout(() => this.#closeIdle(), IDLE_MS);
  }
}

/** Whether a server at this address is asked for sockets: without TLS, and with no user, whom only a header could name. */
export function takesSockets(url: string): boolean {
  const { protocol, username, password } = new URL(url);
  return protocol === "http:" && username === "" && password === "";
}

/** Whether the steps are short enough for one message. */
export function fitsMessage(steps: readonly HranaStep[]): boolean {
  let characters = 0;
  for (const { stmt } of steps) {
    characters += stmt.sql.length;
    for (const value of stmt.args ?? []) {
      if (value.type === "text") characters += value.value.length;
      else if (value.type === "blob") characters += value.base64.length;
    }
  }
  return characters <= MESSAGE_CHARACTERS;
}
