// The sockets that are open, and what they hold in memory: of the process, and of each token.
import { AppError } from "../../core/errors.ts";
import {
  MAX_HELD,
  MAX_HELD_OF_TOKEN,
  MAX_HELD_OF_UNKNOWN,
  MAX_SOCKETS,
  MAX_SOCKETS_OF_TOKEN,
  MAX_UNKNOWN_SOCKETS,
  UNCOUNTED_HELD,
} from "../../core/limits_hrana.ts";

/** Whose a socket or a stream is. */
export interface StreamOwner {
  readonly namespaceId: string;
  readonly tokenId: string;
}

/** A socket until it has closed. */
export interface OpenSocket {
  /** Null: it has not said who it is. */
  readonly owner: StreamOwner | null;
  /** Characters of requests that wait, of texts and of answers that are not read. */
  readonly held: number;
  /** Messages that have come. */
  readonly heard: number;
  /** `closeMs`: how long it may take to close; absent: as long as others. */
  end(reason: string, closeMs?: number): void;
}

/** The sockets of the process. */
export class OpenSockets {
  readonly #open = new Set<OpenSocket>();

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): IterableIterator<OpenSocket> {
    return this.#open.values();
  }

  /** Errors: `too_many_requests`. */
  requireRoom(): void {
    if (this.#open.size >= MAX_SOCKETS) throw tooMany();
  }

  /** Errors: as `requireRoom`. */
  requireRoomOf(tokenId: string): void {
    if (this.#of(tokenId).length >= MAX_SOCKETS_OF_TOKEN) throw tooMany();
  }

  /** Strangers must not keep others out: where too many have not said who they are, the first of them is ended. */
  add(socket: OpenSocket): void {
    const unknown = [...this.#open].filter(({ owner }) => owner === null);
    if (unknown.length >= MAX_UNKNOWN_SOCKETS) unknown[0]?.end("Send hello first");
    this.#open.add(socket);
  }

  remove(socket: OpenSocket): void {
    this.#open.delete(socket);
  }

  /** Whether a socket may hold so many characters more. Few are not counted. */
  mayHold(socket: OpenSocket, more: number): boolean {
    const { held, owner } = socket;
    if (held + more <= UNCOUNTED_HELD) return true;
    const most = owner === null ? MAX_HELD_OF_UNKNOWN : MAX_HELD_OF_TOKEN;
    return sumOf(this.#of(owner?.tokenId ?? null)) + more <= most && sumOf(this.#open) + more <= MAX_HELD;
  }

  /** Null: those that are not known yet. */
  #of(tokenId: string | null): OpenSocket[] {
    return [...this.#open].filter(({ owner }) => (owner?.tokenId ?? null) === tokenId);
  }
}

function sumOf(sockets: Iterable<OpenSocket>): number {
  let sum = 0;
  for (const { held } of sockets) sum += held;
  return sum;
}

function tooMany(): AppError {
  return new AppError("too_many_requests", {
    message: "Close a socket first; there are as many open as there may be",
  });
}
