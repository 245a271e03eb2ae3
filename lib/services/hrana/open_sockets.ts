// How many sockets are open, in all and of each token.
import { AppError } from "../../core/errors.ts";
import { MAX_SOCKETS, MAX_SOCKETS_OF_TOKEN } from "../../core/limits_hrana.ts";

/** The sockets of the process. */
export class OpenSockets {
  #count = 0;
  readonly #byToken = new Map<string, number>();

  get size(): number {
    return this.#count;
  }

  /** Counts a socket; the function that it returns takes it back. Errors: `too_many_requests`. */
  open(): () => void {
    if (this.#count >= MAX_SOCKETS) throw tooMany();
    this.#count++;
    return once(() => this.#count--);
  }

  /** The same for the token that a socket has said to have. */
  openOf(tokenId: string): () => void {
    const open = this.#byToken.get(tokenId) ?? 0;
    if (open >= MAX_SOCKETS_OF_TOKEN) throw tooMany();
    this.#byToken.set(tokenId, open + 1);
    return once(() => {
      const left = (this.#byToken.get(tokenId) ?? 1) - 1;
      if (left > 0) this.#byToken.set(tokenId, left);
      else this.#byToken.delete(tokenId);
    });
  }
}

function tooMany(): AppError {
  return new AppError("too_many_requests", {
    message: "Close a socket first; there are as many open as there may be",
  });
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
